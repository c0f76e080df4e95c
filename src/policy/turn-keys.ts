import { failure } from '../schema/error.ts';
import { turnCovariate } from '../trajectories/covariate.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { type RuleKey, ruleIndex } from './first-rule.ts';
import type { PolicyFile } from './policy-file.ts';

/** One key of the rules, as a code of its value at every turn. */
export interface TurnKey {
  readonly key: string;
  /** The values that the file names, in order of first mention. */
  readonly literals: readonly (string | number)[];
  /** [S] index into `literals`; −1: another value, or none. */
  readonly codes: Int32Array;
}

/**
 * The keys that a policy file looks at, evaluated at the turns of the view. Everything here is known
 * before the action of the turn: its number, its logged features, the task, the previous action class.
 * O(turns × keys).
 */
export function turnKeys(t: Trajectories, file: PolicyFile): TurnKey[] {
  return ruleIndex(file).keys.map((k) => ({ key: k.key, literals: k.literals, codes: codesOf(t, file, k) }));
}

function codesOf(t: Trajectories, file: PolicyFile, { key, place }: RuleKey): Int32Array {
  const codes = new Int32Array(t.turns.turn.length).fill(-1);
  const valueAt = turnCovariate(t, key);
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      const value = valueAt(s);
      if (value === null && key.startsWith('features.')) throw withoutFeature(t, file, key, e, s);
      if (value !== null) codes[s] = place.get(value) ?? -1;
    }
  return codes;
}

function withoutFeature(t: Trajectories, file: PolicyFile, key: string, e: number, s: number) {
  return failure({
    subject: `target "${file.policy}"`,
    wrong: `its rules look at ${key}, which episode ${t.episodes.id[e]} turn ${t.turns.turn[s]} does not have`,
    fix: `Log the feature at every turn, or leave ${key} out of the rules.`,
  });
}
