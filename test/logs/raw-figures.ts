/*
 * What `describe` and `check` should say of a log, from the episodes of the second reader by plain sums:
 * no column, no SQL, and the textbook form of each formula.
 */
import type { RawCall, RawEpisode } from './raw-reader.ts';

const sum = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0);
export const mean = (x: readonly number[]): number => sum(x) / x.length;

/** Σ(x − x̄)² / (n − 1). */
export function sampleVariance(x: readonly number[]): number {
  const centre = mean(x);
  return sum(x.map((v) => (v - centre) ** 2)) / (x.length - 1);
}

export function groupBy<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

export function histogram(values: readonly number[]): [value: number, times: number][] {
  return [...groupBy(values, (v) => v)]
    .map(([v, all]): [number, number] => [v, all.length])
    .sort((a, b) => a[0] - b[0]);
}

/** Type 7: linear between the order statistics around (n − 1) q. */
export function quantile(values: readonly number[], q: number): number {
  const x = [...values].sort((a, b) => a - b);
  const at = (x.length - 1) * q;
  const below = Math.floor(at);
  return x[below]! + (at - below) * ((x[below + 1] ?? x[below]!) - x[below]!);
}

export function spread(values: readonly number[]) {
  const q = (p: number) => quantile(values, p);
  return { mean: mean(values), min: q(0), p10: q(0.1), p50: q(0.5), p90: q(0.9), p99: q(0.99), max: q(1) };
}

export const callsOf = (episodes: readonly RawEpisode[]): RawCall[] =>
  episodes.flatMap((e) => e.turns.flatMap((t) => t.calls));

/** Calls of one log file; the rate only where successes are marked, as the README defines it. */
export function toolErrors(calls: readonly RawCall[]) {
  const n = (outcome: string): number => calls.filter((c) => c.outcome === outcome).length;
  const [failed, worked, unknown] = [n('failed'), n('worked'), n('unknown')];
  const known = failed + worked;
  const marked = unknown === 0 || (worked > 0 && known >= unknown);
  return {
    calls: calls.length,
    failed,
    worked,
    unknown,
    rate: known > 0 && marked ? failed / known : null,
    atLeast: calls.length === 0 ? null : failed / calls.length,
  };
}

export function toolTable(episodes: readonly RawEpisode[]) {
  return [...groupBy(callsOf(episodes), (c) => c.tool)]
    .map(([tool, calls]) => {
      const e = toolErrors(calls);
      return {
        tool,
        calls: e.calls,
        errors: e.failed,
        errorRate: e.rate,
        errorRateAtLeast: e.atLeast,
        errorUnknown: e.unknown,
      };
    })
    .sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
}

export function endings(episodes: readonly RawEpisode[]) {
  const n = (ending: string): number => episodes.filter((e) => e.ending === ending).length;
  return {
    terminated: n('terminated'),
    limit: n('limit'),
    truncated: n('truncated'),
    aborted: n('aborted'),
    unfinished: n('unfinished'),
  };
}

/** Mean return with its errors: CR1 over tasks, over episodes as if independent, and within these very tasks. */
export function rewardFigures(episodes: readonly RawEpisode[]) {
  const paid = episodes.filter((e) => e.reward !== null);
  if (paid.length === 0) return null;
  const rewards = paid.map((e) => e.reward!);
  const centre = mean(rewards);
  const tasks = [...groupBy(paid, (e) => e.task ?? e.id).values()].map((of) => of.map((e) => e.reward!));
  const K = tasks.length;
  const between = sum(tasks.map((x) => sum(x.map((v) => v - centre)) ** 2));
  return {
    mean: centre,
    se: Math.sqrt((K / (K - 1)) * between) / rewards.length,
    seNaive: Math.sqrt(sum(rewards.map((v) => (v - centre) ** 2))) / rewards.length,
    theseTasks: Math.sqrt(sum(tasks.map((x) => x.length * sampleVariance(x)))) / rewards.length,
    n: rewards.length,
    clusters: K,
  };
}

/** Successes of each task, and of k trials drawn from a task the share that all succeed, counted one by one. */
export function passHatK(episodes: readonly RawEpisode[]): number[] {
  const tasks = [...groupBy(episodes, (e) => e.task).values()].map((of) => of.map((e) => e.reward === 1));
  const fewest = Math.min(...tasks.map((t) => t.length));
  return Array.from({ length: fewest }, (_, i) =>
    mean(
      tasks.map((trials) => {
        const drawn = subsets(trials, i + 1);
        return drawn.filter((d) => d.every(Boolean)).length / drawn.length;
      }),
    ),
  );
}

function subsets<T>(items: readonly T[], k: number): T[][] {
  if (k === 0) return [[]];
  return items.flatMap((item, i) => subsets(items.slice(i + 1), k - 1).map((rest) => [item, ...rest]));
}

/** Segments and tokens: a prompt that begins with all that was before it continues the segment. */
export function tokenFigures(episodes: readonly RawEpisode[]) {
  const segments: number[][] = [];
  let sampled = 0;
  for (const e of episodes) {
    let open: number[] | undefined;
    for (const { prompt, completion } of e.modelCalls) {
      const goes = open?.every((id, i) => prompt[i] === id);
      if (!goes) segments.push([]);
      open = [...prompt, ...completion];
      segments[segments.length - 1] = open;
      sampled += completion.length;
    }
  }
  return { segments: segments.length, tokens: sum(segments.map((s) => s.length)), sampled };
}

/** Findings of `check` that the raw log lets one count, by code; those that are not there are not in it. */
export function findings(episodes: readonly RawEpisode[]): Record<string, number> {
  const turns = episodes.flatMap((e) => e.turns);
  const withLogprob = turns.filter((t) => t.logprob !== null).length;
  const counts: Record<string, number> = {
    'missing-task': episodes.filter((e) => e.task === null).length,
    'reward-missing': episodes.filter((e) => e.reward === null && e.ending !== 'aborted').length,
    'logprob-none': withLogprob === 0 ? turns.length : 0,
    'logprob-kind-unknown': withLogprob,
    'tool-error-unknown': callsOf(episodes).filter((c) => c.outcome === 'unknown').length,
    'gold-in-observation': sum(episodes.map(leaks)),
    'duplicate-episode': repeated(episodes),
    'duplicate-response': templates(episodes),
    'empty-turn': turns.filter((t) => !t.action && t.calls.length === 0 && !t.tokens).length,
    'no-turns': episodes.filter((e) => e.turns.length === 0).length,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0));
}

/** Turns that were shown, word for word, a text of 40 characters or more that only the grader knows. */
function leaks(e: RawEpisode): number {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string' && value.length >= 40) texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(e.hidden);
  return e.turns.filter((t) => texts.some((text) => t.observation?.includes(text))).length;
}

function repeated(episodes: readonly RawEpisode[]): number {
  const size = (e: RawEpisode): number =>
    sum(e.turns.map((t) => (t.action ?? '').length + (t.observation ?? '').length));
  const long = episodes.filter((e) => size(e) >= 500);
  return long.length - groupBy(long, (e) => JSON.stringify([e.task, e.turns])).size;
}

function templates(episodes: readonly RawEpisode[]): number {
  const said = episodes.flatMap((e) => e.turns.map((t) => ({ task: e.task, action: t.action ?? '' })));
  const groups = [...groupBy(said, (s) => s.action)].filter(
    ([action, of]) => action.length >= 200 && of.length >= 5 && new Set(of.map((s) => s.task)).size >= 3,
  );
  return sum(groups.map(([, of]) => of.length));
}
