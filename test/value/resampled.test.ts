import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { bootstrap, resampleCounts } from '../../src/math/bootstrap.ts';
import { clusterVariance } from '../../src/math/statistics.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { IntervalKind } from '../../src/schema/evaluation.ts';
import { takeEpisodes } from '../../src/trajectories/view.ts';
import type { Estimator } from '../../src/value/estimator.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { taskBuckets } from '../../src/value/intervals/buckets.ts';
import { is } from '../../src/value/is.ts';
import { pdis } from '../../src/value/pdis.ts';
import { wis } from '../../src/value/wis.ts';
import { wpdisAlive } from '../../src/value/wpdis-alive.ts';
import { wpdisAliveMeanOverN } from '../../src/value/wpdis-alive-mean-over-n.ts';
import { wpdisCarried } from '../../src/value/wpdis-carried.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { type EpisodeWeights, episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import type { LogRatios } from '../../src/weights/ratios.ts';
import { POLICIES, policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const FAMILY: readonly Estimator[] = [is, wis, pdis, wpdisCarried, wpdisAlive, wpdisAliveMeanOverN];
const seed = fc.integer({ min: 1, max: 1e6 });

/** Tasks of unequal size, an episode without a task, one without a turn. */
function logs(s: number): EpisodeInput[] {
  const episodes = simulated(9, 3, s).slice(0, 24);
  return [
    ...episodes,
    { ...simulated(1, 1, s + 7)[0]!, episode_id: 'alone', task_id: null },
    { episode_id: 'silent', task_id: 'task-1', ending: 'terminated', reward: 0.5, turns: [] },
  ];
}
const ratiosOf = (episodes: readonly EpisodeInput[], name: (typeof POLICIES)[number] = 'soft') =>
  logRatiosFromPolicyFile(trajectoriesOf(episodes), policyFile(name));

const near = (got: number, want: number, by: number) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );

/** The replicates from sums against the estimator run again on the resampled episodes. */
function compare(ratios: LogRatios, s: number): void {
  const w = episodeWeights(ratios);
  const stages = stageSums(w);
  const buckets = taskBuckets(w);
  expect(buckets.count).toBe(w.clusters.count);
  const counts = new Int32Array(buckets.count);
  for (const e of FAMILY) {
    const influence = e.estimate(w, stages);
    const table = e.resampled!(w, stages, influence, buckets);
    const [drawn] = bootstrap([table], 5, s, 'studentised');
    near(drawn!.value, influence.value, 1e-14);
    near(drawn!.se, clusterVariance(influence.psi, w.clusters.of, w.clusters.count).se, 1e-10);
    for (let r = 0; r < 5; r++) {
      resampleCounts(s, r, counts);
      const places: number[] = [];
      const drawOf: number[] = []; // each draw of a task is a cluster of its own
      buckets.of.forEach((b, i) => {
        for (let copy = 0; copy < counts[b]!; copy++) {
          places.push(i);
          drawOf.push(b * buckets.count + copy);
        }
      });
      const again = episodeWeights({ ...ratios, trajectories: takeEpisodes(w.trajectories, places) });
      if (!again.weight.some((x) => x > 0)) continue;
      const refitted = e.estimate(again, stageSums(again));
      near(drawn!.values[r]!, refitted.value, 1e-10);
      const { se } = clusterVariance(refitted.psi, drawOf, buckets.count ** 2);
      if (se > 1e-9 && Math.abs(refitted.value - influence.value) > 1e-9)
        near(drawn!.t[r]! / ((refitted.value - influence.value) / se), 1, 1e-6);
    }
  }
}

test.prop([seed, fc.constantFrom(...POLICIES)], { numRuns: 25 })(
  'a replicate is the estimator on the resampled tasks, numerators and denominators alike; the sums give its value and CR1',
  (s, name) => {
    const ratios = ratiosOf(logs(s), name);
    const w = episodeWeights(ratios);
    if (w.weight.some((x) => x > 0)) compare(ratios, s);
  },
);

test('the same with weights that need a shift', () => {
  const ratios = ratiosOf(logs(3));
  const values = ratios.values.map((x, i) => x + 150 + (i % 3));
  const w = episodeWeights({ ...ratios, values });
  expect(w.shift.some((x) => x !== 0)).toBe(true);
  const stages = stageSums(w);
  const buckets = taskBuckets(w);
  for (const e of [wis, wpdisCarried, wpdisAlive, wpdisAliveMeanOverN]) {
    const influence = e.estimate(w, stages);
    const [drawn] = bootstrap([e.resampled!(w, stages, influence, buckets)], 1, 0);
    near(drawn!.value, influence.value, 1e-14);
    near(drawn!.se, clusterVariance(influence.psi, w.clusters.of, w.clusters.count).se, 1e-8);
  }
});

const KINDS: readonly IntervalKind[] = ['bootstrap-percentile', 'bootstrap-bca', 'bootstrap-t'];
const run = (episodes: readonly EpisodeInput[], more: Parameters<typeof evaluate>[1]) =>
  evaluate(ratiosOf(episodes), { replicates: 400, ...more });
const intervals = (e: ReturnType<typeof run>) => [e.behaviour, ...e.estimates].map((x) => x.interval);

test('the seed and the number of replicates are on every interval; the same seed gives the same bytes', () => {
  const episodes = simulated(40, 3, 2);
  for (const interval of KINDS) {
    const e = run(episodes, { interval, seed: 12 });
    const made = intervals(e).filter((x) => x !== null);
    expect(made).toHaveLength(7); // all but three that are not consistent, DM and MIS
    for (const { method } of made)
      expect(method).toMatch(/bootstrap over 40 tasks, 400 replicates, seed 12$/);
    expect(JSON.stringify(run(episodes, { interval, seed: 12 }))).toBe(JSON.stringify(e));
    expect(intervals(run(episodes, { interval, seed: 13 }))).not.toEqual(intervals(e));
  }
});

test('the order of the episodes does not matter, a higher level is wider, more tasks are narrower', () => {
  const episodes = simulated(40, 3, 2);
  const copy = episodes.map((e) => ({ ...e, episode_id: `${e.episode_id}b`, task_id: `${e.task_id}b` }));
  for (const interval of KINDS) {
    const a = intervals(run(episodes, { interval }));
    const b = intervals(run([...episodes].reverse(), { interval }));
    const wider = intervals(run(episodes, { interval, level: 0.99 }));
    const twice = intervals(run([...episodes, ...copy], { interval, replicates: 2000 }));
    a.forEach((x, i) => {
      expect(b[i] === null).toBe(x === null);
      if (x === null) return;
      near(b[i]!.lo, x.lo, 1e-12);
      near(b[i]!.hi, x.hi, 1e-12);
      expect(wider[i]!.lo).toBeLessThanOrEqual(x.lo);
      expect(wider[i]!.hi).toBeGreaterThanOrEqual(x.hi);
      const shrunk = (twice[i]!.hi - twice[i]!.lo) / (x.hi - x.lo);
      // 1/√2 but for resampling; t* of few skewed tasks has long tails, which more tasks cut
      expect(shrunk).toBeGreaterThan(interval === 'bootstrap-t' ? 0.3 : 0.5);
      expect(shrunk).toBeLessThan(0.9);
    });
  }
});

test('where a resample may hold nothing of the target there is no interval, and a reason', () => {
  const few = simulated(25, 1, 8);
  const e = evaluate(ratiosOf(few, 'eager'), { interval: 'bootstrap-percentile', replicates: 400 });
  const of = e.estimates.find((x) => x.estimator === 'WIS')!;
  expect(of.value).not.toBeNull();
  expect(of.interval).toBeNull();
  expect(of.warnings.map((x) => x.code)).toContain('undefined-resamples');
});

/** One-turn episodes, one a task: as much as buckets need to know. */
function flat(K: number, s: number): EpisodeWeights {
  return episodeWeights(ratiosOf(simulated(K, 1, s)));
}

test('more tasks than buckets: by the hash of the id, whatever the order, none lost', () => {
  const episodes = simulated(3000, 1, 4);
  const w = episodeWeights(ratiosOf(episodes));
  const back = episodeWeights(ratiosOf([...episodes].reverse()));
  const [a, b] = [taskBuckets(w), taskBuckets(back)];
  expect(a.count).toBeLessThanOrEqual(1000);
  expect(a.count).toBeGreaterThan(900); // 1000 (1 − e⁻³)
  expect([...b.of].reverse()).toEqual([...a.of]);
  expect(new Set(a.of).size).toBe(a.count);
});

test('buckets keep the variance: resampled spread against the standard error of all tasks', () => {
  const w = flat(4000, 6);
  const stages = stageSums(w);
  const { se } = clusterVariance(wis.estimate(w, stages).psi, w.clusters.of, w.clusters.count);
  const own = taskBuckets(w, 4000);
  const few = taskBuckets(w, 300);
  expect(own.count).toBe(4000);
  for (const [buckets, relative] of [
    [own, 1e-10],
    [few, 3 / Math.sqrt(2 * few.count)], // three standard errors of a standard deviation from so many
  ] as const) {
    const [drawn] = bootstrap([wis.resampled!(w, stages, wis.estimate(w, stages), buckets)], 1, 1);
    expect(Math.abs(drawn!.se / se - 1)).toBeLessThan(relative);
  }
});
