import type { Description } from '../schema/describe.ts';
import type { ToolErrors } from '../schema/tool-errors.ts';
import { isSuccess } from '../trajectories/return.ts';
import { passHatK } from './pass-hat-k.ts';
import type { Returns } from './returns.ts';
import { perTask } from './task-statistics.ts';

/**
 * What `describe` says of each policy, the one with most episodes first. O(episodes).
 * @param rows episodes with a return
 * @param pooled k of the deepest pass^k that trials of all policies together would reach
 */
export function describePolicies(
  returns: Returns,
  rows: Int32Array,
  binary: boolean,
  calls: ReadonlyMap<string | null, ToolErrors>,
  pooled: number,
): Description['policies'] {
  const names = returns.policyNames;
  const episodes = new Int32Array(names.length);
  const aborted = new Int32Array(names.length);
  returns.policy.forEach((code, i) => {
    episodes[code]!++;
    aborted[code]! += returns.aborted[i]!;
  });
  const own: number[][] = names.map(() => []);
  for (const i of rows) own[returns.policy[i]!]!.push(i);
  const passes = own.map((mine) => {
    const place = new Map<number, number>(); // of a task among those it has tried
    for (const i of mine)
      if (returns.task[i]! >= 0 && !place.has(returns.task[i]!)) place.set(returns.task[i]!, place.size);
    const taskOf = (i: number): number => place.get(returns.task[i]!) ?? -1;
    return passHatK(perTask(returns, Int32Array.from(mine), binary, taskOf, place.size), binary);
  });
  const deepest = passes.reduce((k, { values }) => Math.max(k, values?.length ?? 0), pooled);
  return names
    .map((policy, k) => {
      const mine = own[k]!;
      const n = mine.length;
      const sum = mine.reduce((total, i) => total + returns.value[i]!, 0);
      const succeeded = mine.reduce((total, i) => total + (isSuccess(returns.value[i]!) ? 1 : 0), 0);
      const all = n + aborted[k]!;
      const pass = passes[k]!;
      const reached = pass.values?.length ?? 0;
      return {
        policy,
        episodes: episodes[k]!,
        n,
        meanReward: n === 0 ? null : sum / n,
        successRate: n === 0 || !binary ? null : succeeded / n,
        aborted: aborted[k]!,
        abortedAsZero:
          aborted[k] === 0
            ? null
            : { n: all, meanReward: sum / all, successRate: binary ? succeeded / all : null },
        passHatK: pass.values,
        passHatKReason:
          pass.values !== null && reached < deepest
            ? `some task has only ${reached} ${reached === 1 ? 'trial' : 'trials'} of it, so that there is no pass^k from k = ${reached + 1}`
            : pass.reason,
        toolErrors: calls.get(policy) ?? null,
      };
    })
    .sort((a, b) => b.episodes - a.episodes);
}
