import { expect, test } from 'vitest';
import { calibration } from '../../src/diagnostics/calibration.ts';
import { withLastActionClass } from '../../src/policy/behaviour-features.ts';
import { behaviourModel } from '../../src/policy/behaviour-model.ts';
import { behaviourFromPolicyFile } from '../../src/policy/behaviour-table.ts';
import { denseDesign } from '../../src/regress/dense-design.ts';
import { logistic, logProbabilities } from '../../src/regress/logistic.ts';
import { Calibration } from '../../src/schema/calibration.ts';
import { Episode, type EpisodeInput } from '../../src/schema/episode.ts';
import { foldsByTask } from '../../src/trajectories/split.ts';
import { stateFeaturesFromEpisodes } from '../../src/trajectories/states.ts';
import type { Trajectories } from '../../src/trajectories/trajectories.ts';
import { filterEpisodes } from '../../src/trajectories/view.ts';
import { labelEstimated, withEstimatedPropensities } from '../../src/weights/estimated-propensities.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const statesOf = (episodes: readonly EpisodeInput[], t: Trajectories) =>
  stateFeaturesFromEpisodes(
    episodes.map((e) => Episode.parse(e)),
    t,
    { include: ['features'] },
  );
const near = (got: number, want: number, tolerance = 1e-10) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(tolerance);

const episodes = simulated(40, 10, 7);
const t = trajectoriesOf(episodes);
const { codes, values: classes } = t.turns.actionClass;
const states = statesOf(episodes, t);

test('saturated in the state: the frequencies of the other folds, cell by cell', () => {
  const model = behaviourModel(t, states, { folds: 4, lambda: 0, seed: 2 });
  const folds = foldsByTask(t, 4, 2);
  const fold = new Int32Array(codes.length);
  t.index.forEach((e, i) => {
    fold.fill(folds[i]!, t.episodeOffsets[e]!, t.episodeOffsets[e + 1]!);
  });
  for (let m = 0; m < 4; m++)
    for (const q of [0, 1, 2]) {
      const training = [...codes.keys()].filter((s) => fold[s] !== m && t.features!.values[s] === q);
      const s = [...codes.keys()].find((s) => fold[s] === m && t.features!.values[s] === q)!;
      classes.forEach((_, a) => {
        const share = training.filter((k) => codes[k] === a).length / training.length;
        near(model.probabilities[s * 3 + a]!, share);
      });
      near(model.logPropensity[s]!, Math.log(model.probabilities[s * 3 + codes[s]!]!), 1e-14);
    }
});

test('probabilities sum to 1 within 1e-12, everywhere in the view and nowhere else', () => {
  const view = filterEpisodes(t, (e) => e % 3 !== 0);
  const model = behaviourModel(view, states);
  const inView = new Set(view.index);
  for (let e = 0; e < episodes.length; e++)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      const total =
        model.probabilities[s * 3]! + model.probabilities[s * 3 + 1]! + model.probabilities[s * 3 + 2]!;
      if (inView.has(e)) near(total, 1, 1e-12);
      else expect(total).toBeNaN();
      expect(Number.isNaN(model.logPropensity[s]!)).toBe(!inView.has(e));
    }
});

test('a task is never predicted by a fit that saw it: its actions do not matter to its own propensities', () => {
  const changed = episodes.map((e) =>
    e.task_id === 'task-3' ? { ...e, turns: e.turns!.map((x) => ({ ...x, action_class: 'think' })) } : e,
  );
  // The same first appearances of classes, so that codes agree.
  const other = trajectoriesOf(changed);
  expect(other.turns.actionClass.values).toEqual(classes);
  const [a, b] = [behaviourModel(t, states), behaviourModel(other, states)];
  episodes.forEach((e, i) => {
    if (e.task_id !== 'task-3') return;
    for (let k = 3 * t.episodeOffsets[i]!; k < 3 * t.episodeOffsets[i + 1]!; k++)
      near(b.probabilities[k]!, a.probabilities[k]!, 1e-9);
  });
});

test('a class that one fold alone shows gets its share, said in a warning', () => {
  const rare = episodes.map((e, i) =>
    i === 0 ? { ...e, turns: e.turns!.map((x, k) => (k === 0 ? { ...x, action_class: 'jump' } : x)) } : e,
  );
  const other = trajectoriesOf(rare);
  const model = behaviourModel(other, statesOf(rare, other));
  const a = other.turns.actionClass.values.indexOf('jump');
  near(model.probabilities[a]!, 1 / codes.length);
  near(
    model.probabilities.subarray(0, 4).reduce((x, y) => x + y, 0),
    1,
    1e-12,
  );
  expect(model.warnings).toMatchObject([{ code: 'class-in-one-fold', count: 1 }]);
});

test('without a class on some turn, or with one task, there is no model', () => {
  const bare = episodes.map((e, i) =>
    i === 5 ? { ...e, turns: e.turns!.map((x) => ({ ...x, action_class: null })) } : e,
  );
  expect(() => behaviourModel(trajectoriesOf(bare), states)).toThrow(
    /episode 5 turn 0, column action_class: is missing/,
  );
  const one = trajectoriesOf(episodes.map((e) => ({ ...e, task_id: 'only' })));
  expect(() => behaviourModel(one, states)).toThrow(/at least two tasks/);
});

test('the class before is a feature, and the first turn has none', () => {
  const x = withLastActionClass(t, states);
  expect(x.names.slice(-3)).toEqual(classes.map((name) => `last_action_class=${name}`));
  for (let e = 0; e < 20; e++)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      const added = [...x.indices.subarray(x.offsets[s]!, x.offsets[s + 1]!)].filter(
        (j) => j >= states.columns,
      );
      expect(added).toEqual(s === t.episodeOffsets[e]! ? [] : [states.columns + codes[s - 1]!]);
    }
});

test('calibration by hand', () => {
  const logs = trajectoriesOf(
    ['a', 'b', 'a', 'a'].map((c, i) => ({ episode_id: `e${i}`, turns: [{ action_class: c }] })),
  );
  const g = [0.75, 0.75, 0.75, 0.45];
  const probabilities = Float64Array.from(g.flatMap((x) => [x, 1 - x]));
  const c = calibration(logs, { source: 'declared', classes: ['a', 'b'], probabilities });
  near(c.brier, (3 * 2 * 0.0625 - 2 * 0.0625 + 2 * 0.5625 + 2 * 0.55 ** 2) / 4);
  near(c.brierConstant, 1 - (9 + 1) / 16);
  near(c.logLoss!, -(2 * Math.log(0.75) + Math.log(0.25) + Math.log(0.45)) / 4);
  near(c.logLossConstant, -(0.75 * Math.log(0.75) + 0.25 * Math.log(0.25)));
  expect(c.sumError).toBe(0);
  expect(c.classes[0]!.bins).toMatchObject([
    { from: 0.4, turns: 1, observed: 1 },
    { from: 0.7, turns: 3, predicted: 0.75 },
  ]);
  near(c.classes[0]!.bins[1]!.observed, 2 / 3);
  near(c.classes[0]!.error, (1 * 0.55 + 3 * (0.75 - 2 / 3)) / 4);
  expect(c.stages).toMatchObject([{ turn: 0, turns: 4, brier: c.brier }]);
  expect(Calibration.parse(JSON.parse(JSON.stringify(c)))).toEqual(c);
});

test('the true behaviour is calibrated; the model on its own state beats the frequencies and comes near it', () => {
  const many = simulated(200, 20, 5);
  const logs = trajectoriesOf(many);
  const truth = calibration(logs, behaviourFromPolicyFile(logs, policyFile('behaviour')));
  const model = calibration(logs, behaviourModel(logs, statesOf(many, logs)));
  for (const x of truth.classes) expect(x.error).toBeLessThan(0.02);
  expect(truth.logLoss!).toBeLessThan(truth.logLossConstant - 0.03);
  expect(model.logLoss! - truth.logLoss!).toBeLessThan(0.003);
  expect(model.sumError).toBeLessThan(1e-12);
});

test('estimated ratios are labelled, and are the target over the model', () => {
  const model = behaviourModel(t, states);
  const bare = trajectoriesOf(
    episodes.map((e) => ({
      ...e,
      turns: e.turns!.map(({ behaviour_log_propensity: _, ...x }) => x),
    })),
  );
  const plain = logRatiosFromPolicyFile(withEstimatedPropensities(bare, model), policyFile('soft'));
  const ratios = labelEstimated(plain, model);
  expect(ratios).toMatchObject({
    propensities: 'estimated',
    measure: 'log_propensity',
    behaviour: { source: 'estimated' },
  });
  expect(ratios.warnings.map((w) => w.code)).toContain('estimated-propensities');
  const known = logRatiosFromPolicyFile(t, policyFile('soft'));
  for (let s = 0; s < 200; s++)
    near(
      ratios.values[s]!,
      known.values[s]! + t.turns.behaviourLogPropensity[s]! - model.logPropensity[s]!,
      1e-12,
    );
});

test('a fit on sparse rows is the fit on the same rows in full', () => {
  const y = Int32Array.from(codes);
  const columns = [1, 2].map((q) => Float64Array.from(t.features!.values, (x) => (x === q ? 1 : 0)));
  const fit = logistic(denseDesign(columns), y, 3, { lambda: 0 });
  const full = behaviourModel(t, states, { lambda: 0 }).fit;
  const out = new Float64Array(3);
  const want = new Float64Array(3);
  for (const q of [0, 1, 2]) {
    const s = t.features!.values.indexOf(q);
    const [from, to] = [states.offsets[s]!, states.offsets[s + 1]!];
    logProbabilities(
      full,
      states.indices.subarray(from, to),
      states.values.subarray(from, to),
      to - from,
      out,
    );
    logProbabilities(fit, Int32Array.of(q - 1), Float64Array.of(1), q === 0 ? 0 : 1, want);
    out.forEach((x, a) => {
      near(x, want[a]!, 1e-9);
    });
  }
});
