/*
 * Two agents on the same tasks of a real log, compared by the program and by hand. The airline log holds four
 * trials of each of 50 tasks; files of some of them stand for two agents, so that pairing, unequal trials and
 * tasks of one side only come from real runs.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { compare } from '../../src/inspect/compare.ts';
import type { Comparison } from '../../src/schema/compare.ts';
import { openStore } from '../../src/store/store.ts';
import { agree } from './agree.ts';
import { LOGS, missing, skipped } from './logs.ts';
import { callsOf, groupBy, mean, sampleVariance, toolErrors } from './raw-figures.ts';
import { type RawEpisode, readTauBench } from './raw-reader.ts';
import { rewritings } from './rewritten.ts';

type Run = { readonly task_id: number; readonly trial: number };
type Side = (run: Run) => boolean;

const airline = join(LOGS, 'tau-bench/gpt-4o-airline.json');
const failures = (e: RawEpisode): number => callsOf([e]).filter((c) => c.outcome === 'failed').length;

/** What `compare` measures an episode by, and whether more is better. */
const OUTCOMES: Record<string, { readonly of: (e: RawEpisode) => number; readonly sign: 1 | -1 }> = {
  success: { of: (e) => e.reward!, sign: 1 },
  turns: { of: (e) => e.turns.length, sign: -1 },
  'tool-errors': { of: failures, sign: -1 },
};

/** Student's t at 0.975 with K − 1 degrees of freedom, from the incomplete beta function in 30 digits (mpmath). */
const T: Record<number, number> = { 30: 2.0452296421327043, 50: 2.0095752371292397 };

/** P(X ≤ k) or P(X ≥ k), doubled: the exact sign test of k wins among n. */
function signTest(wins: number, losses: number): number | null {
  const n = wins + losses;
  if (n === 0) return null;
  const choose = (k: number): number => (k === 0 ? 1 : (choose(k - 1) * (n - k + 1)) / k);
  let tail = 0;
  for (let k = 0; k <= Math.min(wins, losses); k++) tail += choose(k) / 2 ** n;
  return Math.min(1, 2 * tail);
}

/** The paired comparison of one outcome, task by task. */
function byHand(a: readonly RawEpisode[], b: readonly RawEpisode[], name: string) {
  const { of, sign } = OUTCOMES[name]!;
  const [ofA, ofB] = [groupBy(a, (e) => e.task!), groupBy(b, (e) => e.task!)];
  const pairs = [...ofA.keys()]
    .filter((task) => ofB.has(task))
    .map((task) => ({ task, x: ofA.get(task)!.map(of), y: ofB.get(task)!.map(of) }));
  const d = pairs.map(({ x, y }) => mean(y) - mean(x));
  const K = d.length;
  const se = Math.sqrt(sampleVariance(d) / K);
  const half = T[K]! * se;
  const wins = d.filter((v) => sign * v > 1e-9).length;
  const losses = d.filter((v) => sign * v < -1e-9).length;
  const better = pairs.map(({ x, y }) =>
    mean(x.flatMap((u) => y.map((v) => (v === u ? 0.5 : sign * (v - u) > 0 ? 1 : 0)))),
  );
  const fresh = pairs.every(({ x, y }) => x.length > 1 && y.length > 1)
    ? Math.sqrt(
        pairs
          .map(({ x, y }) => sampleVariance(x) / x.length + sampleVariance(y) / y.length)
          .reduce((s, v) => s + v),
      ) / K
    : null;
  const side = (all: readonly RawEpisode[], pick: 'x' | 'y') => ({
    mean: mean(all.map(of)),
    n: all.length,
    clusters: new Set(all.map((e) => e.task)).size,
    missing: 0,
    invalid: 0,
    pairedMean: mean(pairs.map((p) => mean(p[pick]))),
    pairedTrials: 1 / mean(pairs.map((p) => 1 / p[pick].length)),
  });
  return {
    outcome: name,
    tasks: K,
    a: side(a, 'x'),
    b: side(b, 'y'),
    difference: {
      value: mean(d),
      se,
      interval: { lo: mean(d) - half, hi: mean(d) + half },
      theseTasks: fresh === null ? null : { se: fresh },
    },
    tests: { wins, losses, ties: K - wins - losses, sign: signTest(wins, losses) },
    winRate: { value: mean(better), se: Math.sqrt(sampleVariance(better) / K) },
  };
}

/** Shares of the pairs of trials on a task that both, one or none of the two solve. */
function pairsByHand(a: readonly RawEpisode[], b: readonly RawEpisode[]) {
  const ofB = groupBy(b, (e) => e.task!);
  const tasks = [...groupBy(a, (e) => e.task!)].filter(([task]) => ofB.has(task));
  const share = (x: number, y: number): number =>
    mean(
      tasks.map(([task, of]) =>
        mean(of.flatMap((u) => ofB.get(task)!.map((v) => (u.reward === x && v.reward === y ? 1 : 0)))),
      ),
    );
  return { both: share(1, 1), onlyA: share(1, 0), onlyB: share(0, 1), neither: share(0, 0) };
}

const designs: readonly { readonly name: string; readonly a: Side; readonly b: Side }[] = [
  { name: 'even trials against odd ones', a: (r) => r.trial % 2 === 0, b: (r) => r.trial % 2 === 1 },
  {
    name: 'one trial of the first 40 tasks against three of the last 40',
    a: (r) => r.trial === 0 && r.task_id < 40,
    b: (r) => r.trial > 0 && r.task_id >= 10,
  },
];

describe.skipIf(missing).each(designs.map((d) => [d.name, d] as const))(
  `the airline log, %s${skipped}`,
  (_, design) => {
    let folder: string;
    let c: Comparison;
    let a: RawEpisode[];
    let b: RawEpisode[];

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'turnwise-compared-'));
      const runs: Run[] = JSON.parse(readFileSync(airline, 'utf8'));
      const [pathA, pathB] = (['a', 'b'] as const).map((side) => {
        const path = join(folder, `airline-${side}.json`);
        writeFileSync(path, JSON.stringify(runs.filter(design[side])));
        return path;
      });
      const store = await openStore(':memory:', { mode: 'create' });
      try {
        await ingest(store, [pathA!, pathB!]);
        c = await compare(store, 'airline-a', 'airline-b');
      } finally {
        store.close();
      }
      [a, b] = [readTauBench(pathA!), readTauBench(pathB!)];
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test('the two sides: episodes, tasks, failures', () => {
      const tasks = [a, b].map((side) => new Set(side.map((e) => e.task)));
      const common = [...tasks[0]!].filter((task) => tasks[1]!.has(task)).length;
      expect(c.tasks).toEqual({
        common,
        onlyA: tasks[0]!.size - common,
        onlyB: tasks[1]!.size - common,
      });
      [a, b].forEach((side, i) => {
        agree([c.a, c.b][i], {
          episodes: side.length,
          aborted: 0,
          cutShort: 0,
          withoutTask: 0,
          tasks: tasks[i]!.size,
          toolErrors: toolErrors(callsOf(side)),
        });
      });
    });

    test.each(Object.keys(OUTCOMES))('%s: difference, errors, tests and win rate', (name) => {
      agree(
        c.outcomes.find((o) => o.outcome === name),
        byHand(a, b, name),
      );
    });

    test('success: the table of pairs', () => {
      expect(c.primary).toBe('success');
      agree(c.outcomes[0]!.success!.pairs, pairsByHand(a, b));
    });
  },
);

test.skipIf(missing)(
  `a log that marks failures only is not compared by them, and says how many there are at least${skipped}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnwise-compared-'));
    const store = await openStore(':memory:', { mode: 'create' });
    try {
      const openai = rewritings.find((r) => r.name.includes('OpenAI'))!.write(airline, folder);
      await ingest(store, [airline, openai]);
      const c = await compare(store, 'gpt-4o-airline', 'openai');
      const { calls, failed } = toolErrors(callsOf(readTauBench(airline)));
      expect(c.b.toolErrors).toMatchObject({ calls, failed, worked: 0, unknown: calls - failed, rate: null });
      const absent = c.absent.find((x) => x.outcome === 'tool-errors');
      expect(absent!.reason).toContain(`of A ${failed} of ${calls} calls failed`);
      expect(absent!.reason).toContain(`of B at least ${failed} of ${calls} calls failed`);
      // The very same runs: no difference in anything else, on any task.
      expect(c.tasks).toEqual({ common: 50, onlyA: 0, onlyB: 0 });
      expect(c.outcomes.map((o) => [o.outcome, o.difference.value, o.tests.ties])).toEqual([
        ['success', 0, 50],
        ['turns', 0, 50],
      ]);
    } finally {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
