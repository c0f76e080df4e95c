import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { crossFitQ } from '../../src/value/cross-fit-q.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { qValues } from '../../src/value/q-values.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { tabularQ } from '../../src/value/tabular-q.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { ACTIONS, type POLICIES, policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';
import { columnsBy } from '../helpers/q-columns.ts';

const setting = (episodes: readonly EpisodeInput[], name: (typeof POLICIES)[number] = 'soft') => {
  const t = trajectoriesOf(episodes);
  const ratios = logRatiosFromPolicyFile(t, policyFile(name));
  const w = episodeWeights(ratios);
  const table = ratios.table!;
  return { t, ratios, w, table, states: stageStates(w, table.cell, table.cells.length) };
};
const seed = fc.integer({ min: 1, max: 1e6 });

test.prop([seed, fc.integer({ min: 2, max: 6 })], { numRuns: 20 })(
  'an episode is scored by the fit that has seen no episode of its task',
  (s, folds) => {
    const { t, w } = setting(simulated(12, 3, s));
    const { task } = t.episodes;
    const seen: Set<string>[] = [];
    const columns = crossFitQ(
      w,
      (train) => {
        const fold = seen.push(
          new Set([...train].map((i) => task.values[task.codes[w.trajectories.index[i]!]!]!)),
        );
        return columnsBy(t, ACTIONS, (turn, _x, a) => 1000 * fold + 10 * turn + a.length);
      },
      { folds, seed: s },
    );
    expect(seen).toHaveLength(folds);
    const A = ACTIONS.length;
    for (const e of t.index)
      for (let row = t.episodeOffsets[e]!; row < t.episodeOffsets[e + 1]!; row++)
        ACTIONS.forEach((a, k) => {
          const q = columns.q[columns.row[row]! * A + k]!;
          const fold = Math.floor(q / 1000);
          expect(q - 1000 * fold).toBe(10 * t.turns.turn[row]! + a.length);
          expect(seen[fold - 1]!.has(task.values[task.codes[e]!]!)).toBe(false);
        });
  },
);

test.prop([seed], { numRuns: 10 })('a tabular cross-fit does not depend on the order of the logs', (s) => {
  const episodes = simulated(12, 3, s);
  const at = (log: readonly EpisodeInput[]) => {
    const { t, w, table, states } = setting(log);
    const { q, row } = crossFitQ(w, tabularQ(w, table, states), { seed: s });
    const out = new Map<string, number[]>();
    for (const e of t.index)
      for (let k = t.episodeOffsets[e]!; k < t.episodeOffsets[e + 1]!; k++)
        out.set(
          `${t.episodes.id[e]} ${t.turns.turn[k]}`,
          [...q.subarray(row[k]! * 3, row[k]! * 3 + 3)].sort(),
        );
    return out;
  };
  const there = at([...episodes].reverse());
  for (const [key, values] of at(episodes))
    values.forEach((x, k) => {
      expect(there.get(key)![k]).toBeCloseTo(x, 10);
    });
});

test('the label says how it was fitted; too few tasks are refused', () => {
  const { w, table, states } = setting(simulated(3, 4, 1));
  const fit = tabularQ(w, table, states);
  expect(crossFitQ(w, fit, { folds: 3 }).label).toBe(
    'tabular Q (0 where unseen), cross-fitted by task in 3 folds',
  );
  expect(() => crossFitQ(w, fit, { folds: 4 })).toThrow(/3 tasks cannot be dealt to 4 folds/);
});

test('what a fit has not seen is flagged, and 0 or the mean of the turn stands in', () => {
  const { w, table, states } = setting(simulated(4, 3, 7));
  const { classes } = table;
  for (const unseen of ['zero', 'stage mean'] as const) {
    // The behaviour's Monte-Carlo Q: its targets are the rewards that are left.
    const train = [0, 1, 2];
    const { q, unseen: flags } = tabularQ(w, table, states, { continues: 'behaviour', unseen })(train);
    const { codes } = w.trajectories.turns.actionClass;
    for (let t = 0; t < w.stages; t++)
      for (let x = states.stageOffsets[t]!; x < states.stageOffsets[t + 1]!; x++)
        classes.forEach((_, a) => {
          const rows = train.filter((i) => {
            const s = w.offsets[i]! + t;
            const row = w.trajectories.episodeOffsets[w.trajectories.index[i]!]! + t;
            return s < w.offsets[i + 1]! && states.state[s] === x && codes[row] === a;
          });
          const at = x * classes.length + a;
          expect(flags![at]).toBe(rows.length === 0 ? 1 : 0);
          const left = (i: number) =>
            w.rewards.subarray(w.offsets[i]! + t, w.offsets[i + 1]!).reduce((y, r) => y + r, 0);
          const alive = train.filter((i) => w.offsets[i]! + t < w.offsets[i + 1]!);
          const mean = (of: readonly number[]) => of.reduce((y, i) => y + left(i), 0) / of.length;
          const want =
            rows.length > 0 ? mean(rows) : unseen === 'zero' || alive.length === 0 ? 0 : mean(alive);
          expect(q[at]).toBeCloseTo(want, 12);
        });
  }
});

test('evaluate prints DM, DR, WDR and MIS of a policy file, cross-fitted, with parts and labels', () => {
  const { ratios } = setting(simulated(40, 5, 2));
  const e = evaluate(ratios);
  const of = (name: string) => e.estimates.find((x) => x.estimator === name)!;
  for (const name of ['DM', 'DR', 'WDR carried', 'WDR alive'])
    expect(of(name).convention).toMatch(
      /^tabular Q \(mean of the turn where unseen\), cross-fitted by task in 5 folds; /,
    );
  for (const name of ['DR', 'WDR carried', 'WDR alive']) {
    const { parts, value } = of(name);
    expect(parts!.regression! + parts!.correction!).toBeCloseTo(value!, 12);
    expect(parts!.regression).toBeCloseTo(of('DM').value!, 12);
  }
  expect(of('DR').parts!.ipw).toBe(of('PDIS').value);
  expect(of('WDR carried').parts!.ipw).toBe(of('WPDIS carried').value);
  expect(of('DR').interval).not.toBeNull();
  for (const name of ['DM', 'MIS', 'WDR alive']) expect(of(name).interval).toBeNull();
  expect(of('DM').ess).toBeNull();
  expect(JSON.stringify(evaluate(ratios))).toBe(JSON.stringify(e));
});

test('Q-values and state values of a critic take the place of the tabular ones', () => {
  const { t, ratios, w } = setting(simulated(20, 3, 2));
  const q = qValues(
    ratios,
    columnsBy(t, ACTIONS, (turn, x, a) => turn + x[0]! + a.length),
  );
  const stateValue = Float64Array.from(t.turns.turn, (turn) => turn / 2);
  const e = evaluate(ratios, {}, undefined, { q, stateValues: { stateValue, label: 'half the turn' } });
  const of = (name: string) => e.estimates.find((x) => x.estimator === name)!;
  expect(of('DR').convention).toMatch(/^given; /);
  expect(of('DR').parts!.regression).toBeCloseTo(
    w.returns.reduce((a, _, i) => a + q.v[t.episodeOffsets[w.trajectories.index[i]!]!]! / w.n, 0),
    12,
  );
  expect(of('DR V-only').convention).toMatch(/^half the turn; .*any V$/);
  expect(of('DR V-only').interval).not.toBeNull();
  const behaviours = { ...q, continues: 'behaviour' as const };
  const names = evaluate(ratios, {}, undefined, { q: behaviours }).estimates.map((x) => x.estimator);
  expect(names).toContain('DR');
  expect(names).not.toContain('DM');
  expect(() => evaluate(ratios, {}, undefined, { q: { ...q, v: q.v.map((x) => x + 0.1) } })).toThrow(
    /is not the mean of Q̂ under "soft"/,
  );
});

test('recorded scores have no tabular Q; one task has no folds', () => {
  const { ratios } = setting(simulated(10, 2, 2));
  const names = (x: ReturnType<typeof evaluate>) => x.estimates.map((e) => e.estimator);
  expect(names(evaluate({ ...ratios, table: null }))).not.toContain('DR');
  expect(names(evaluate(setting(simulated(1, 9, 2)).ratios))).not.toContain('DR');
});
