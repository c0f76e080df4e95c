/*
 * Figures that look fine and are wrong, or look wrong and are fine, and what an audit makes of them. Others of their
 * kind: leak.test.ts, rounding.test.ts, contradiction.test.ts, ../value/doubly-robust-exact.test.ts.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { worstMeanWeight } from '../../src/audit/mean-weight-test.ts';
import { stageTable } from '../../src/diagnostics/stages.ts';
import { normal, random } from '../../src/math/random.ts';
import type { BehaviourModel } from '../../src/policy/behaviour-model.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { Audit, Stage } from '../../src/schema/audit.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { labelEstimated, withEstimatedPropensities } from '../../src/weights/estimated-propensities.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';
import { plant, storeOf } from '../helpers/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-mislead-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const of = (a: Audit, name: string) => a.evaluation!.estimates.find((e) => e.estimator === name)!;
const onlyA = checkPolicyFile({ policy: 'a', trained_on: 'none', rules: [{ probabilities: { a: 1 } }] });

test('saturated estimated propensities: a mean weight of exactly 1 and a fine ESS around a wrong value', () => {
  // What the behaviour saw and the log has not: h, a coin. It takes a with .8 where h is heads and .2 where it is
  // tails, and heads pays 1 whatever is done. Every policy is worth ½.
  const rng = random(3, 'skewed');
  const u = (): number => (rng.next() >>> 0) / 2 ** 32;
  const rows = Array.from({ length: 1000 }, (_, i) => ({
    heads: i % 2 === 0,
    a: i % 2 === 0 ? i % 10 !== 0 : i % 10 === 1,
    order: u(),
  })).sort((x, y) => x.order - y.order);
  const t = trajectoriesOf(
    rows.map(({ heads, a }, i) => ({
      episode_id: `e${i}`,
      task_id: `t${i % 100}`,
      reward: heads ? 1 : 0,
      turns: [{ action_class: a ? 'a' : 'b' }],
    })),
  );
  // The frequencies of the very logs, half and half.
  const model: Pick<
    BehaviourModel,
    'classes' | 'features' | 'folds' | 'logPropensity' | 'probabilities' | 'source' | 'warnings'
  > = {
    source: 'estimated',
    classes: t.turns.actionClass.values,
    probabilities: new Float64Array(2000).fill(0.5),
    logPropensity: new Float64Array(1000).fill(-Math.LN2),
    folds: 1,
    features: [],
    warnings: [],
  };
  const estimated = model as BehaviourModel;
  const a = audit(
    labelEstimated(logRatiosFromPolicyFile(withEstimatedPropensities(t, estimated), onlyA), estimated),
  );
  expect(a.stages[0]!.meanWeight).toBe(1);
  expect(a.weights!.ess).toBe(500);
  expect(of(a, 'WIS').value).toBeCloseTo(0.8, 12);
  expect(of(a, 'WIS').interval!.lo).toBeGreaterThan(0.7);
  // The label is all there is against it, and it holds the verdict.
  expect(a.reasons.map((r) => `${r.verdict} ${r.code}`)).toEqual(['weak estimated-propensities']);
  expect(of(a, 'WIS').interval!.method).toMatch(/coverage not claimed/);
});

test('the mean weight is refused where both errors say so, beyond t quantiles raised for the turns before the last', () => {
  // Two degrees of freedom: t(p) = (2p − 1)/√(2p(1 − p)), 4.3027 at .975 and 9.9248 at 1 − .025/5.
  const t2 = (p: number) => (2 * p - 1) / Math.sqrt(2 * p * (1 - p));
  const found = (turn: number, z: number) => {
    const stages = Array.from({ length: 5 }, (_, k) => ({
      turn: k,
      meanWeight: k === turn ? 1.2 : 1,
      z: k === turn ? z : 0,
      largestShare: 0.1,
      // Over episodes the mean is 16.6 errors from 1; the clustered z decides.
      essCarried: 99,
      skewness: 0,
    })) as Stage[];
    return worstMeanWeight(stages, 100, 3, 1.959963984540054);
  };
  expect(found(4, t2(0.975) - 1e-6)).toBeNull();
  expect(found(4, -t2(0.975) - 1e-6)).toMatchObject({ turn: 4, limit: expect.closeTo(1.984217, 5) }); // t(99)
  expect(found(1, t2(0.995) - 1e-6)).toBeNull();
  expect(found(1, t2(0.995) + 1e-6)).toMatchObject({ turn: 1, limit: expect.closeTo(2.626405, 5) });
});

/** One turn of n episodes, each a task of its own, with these weights. */
function turnOf(weights: readonly number[]): Stage {
  const n = weights.length;
  const power = (k: number) => weights.reduce((sum, w) => sum + w ** k, 0) / n;
  const [mean, second] = [power(1), power(2) - power(1) ** 2];
  const skewness = (power(3) - 3 * mean * power(2) + 2 * mean ** 3) / second ** 1.5;
  const z = (mean - 1) / Math.sqrt(second / (n - 1));
  const essCarried = (n * mean * mean) / power(2);
  return { turn: 0, meanWeight: mean, z, skewness, largestShare: 0.1, essCarried } as Stage;
}

test('right logs with skewed weights are refused no more often than the limit says', () => {
  // An action of propensity .02 taken by the target with .2: weights 10 and .816, skewness 6.9, 600 episodes.
  const rng = random(3, 'skewed');
  const u = (): number => (rng.next() >>> 0) / 2 ** 32;
  const sets = 4000;
  let [fired, uncorrected] = [0, 0];
  for (let k = 0; k < sets; k++) {
    const stage = turnOf(Array.from({ length: 600 }, () => (u() < 0.02 ? 10 : 0.8 / 0.98)));
    if (worstMeanWeight([stage], 600, 600, 3)) fired++;
    if (Math.abs(stage.z!) > 3) uncorrected++;
  }
  expect(fired / sets).toBeLessThan(0.0027 + 3 * Math.sqrt(0.0027 / sets));
  expect(uncorrected / sets).toBeGreaterThan(0.01);
  // Twice the propensity that was logged, or half of it: the mean weight is 1.184 or .908.
  for (const [truly, n] of [
    [0.04, 2000],
    [0.01, 4000],
  ] as const) {
    let found = 0;
    for (let k = 0; k < 200; k++)
      if (
        worstMeanWeight([turnOf(Array.from({ length: n }, () => (u() < truly ? 10 : 0.8 / 0.98)))], n, n, 3)
      )
        found++;
    expect(found).toBeGreaterThan(190);
  }
});

test('it fires by chance at that rate, when nothing is wrong', () => {
  // Weights 1 + ε/10 with ε normal: their mean over 20 tasks is t(19) exactly.
  const n = 20;
  const t = trajectoriesOf(
    Array.from({ length: n }, (_, i) => ({
      episode_id: `e${i}`,
      task_id: `t${i}`,
      reward: i % 2,
      turns: [{ action_class: 'a', behaviour_log_propensity: -1 }],
    })),
  );
  const ratios = logRatiosFromPolicyFile(t, onlyA);
  const rng = random(1, 'mean weight');
  const sets = 4000;
  let fired = 0;
  for (let s = 0; s < sets; s++) {
    const values = Float64Array.from({ length: n }, () => Math.log(1 + normal(rng) / 10));
    if (worstMeanWeight(stageTable(episodeWeights({ ...ratios, values })), n, n, 1.959963984540054)) fired++;
  }
  // 5 %, within four binomial standard errors.
  expect(Math.abs(fired / sets - 0.05)).toBeLessThan(4 * Math.sqrt((0.05 * 0.95) / sets));
});

test('geometric means of token ratios: near the behaviour’s value where the target’s is another, and in no verdict', async () => {
  // One turn of 100 tokens; a pays 1, b nothing; the behaviour tosses a coin, the target takes a with .9.
  const N = 100;
  const store = await storeOf(
    Array.from({ length: 200 }, (_, i) => ({
      episode_id: `e${i}`,
      task_id: `t${i % 50}`,
      reward: i % 2,
      turns: [{ logprob_kind: 'raw' as const }],
      segments: [
        {
          token_ids: Array.from({ length: N }, () => 1),
          action_mask: Array.from({ length: N }, () => true),
          behaviour_logprobs: Array.from({ length: N }, (_, k) => -0.5 - ((i + k) % 7)),
          token_turn: Array.from({ length: N }, () => 0),
        },
      ],
    })),
  );
  const more = (p: number) => Math.log(p / 0.5) / N;
  await plant(
    store,
    `INSERT INTO scores (policy, source, trained_on, episode, segment, piece, logprobs, logprob_kind)
     SELECT 'new', 0, '"none"', episode, segment, piece,
       list_transform(behaviour_logprobs, x -> x + CASE WHEN episode % 2 = 1 THEN ${more(0.9)} ELSE ${more(0.1)} END), 'raw'
     FROM segments`,
  );
  const plain = await auditTarget(store, 'new');
  const detailed = await auditTarget(store, 'new', { details: true });
  store.close();
  // The product is what weighs, but for the float32 of the tokens.
  expect(of(plain, 'WIS').value).toBeCloseTo(0.9, 3);
  const { logProduct, logGeometricMean } = detailed.diagnostics!.tokens!.all;
  expect(Math.exp(logProduct.q95!)).toBeCloseTo(1.8, 3);
  const [a, b] = [Math.exp(logGeometricMean.q95!), Math.exp(logGeometricMean.q05!)];
  expect(a / (a + b)).toBeGreaterThan(0.5);
  expect(a / (a + b)).toBeLessThan(0.51);
  const judged = ({ diagnostics: _, ...rest }: Audit) => rest;
  expect(judged(detailed)).toEqual(judged(plain));
});

test('weights that are 1 by definition are said to test nothing, loaded or scanned; nearly 1 is another matter', async () => {
  const store = await storeOf(simulated(20, 5, 2));
  const behaviour = policyFile('behaviour');
  // In two of three states half of it goes to something else: no ratio above 1, and not all of them 1.
  const rules = behaviour.rules.map(({ when, probabilities }, k) => ({
    when,
    probabilities:
      k === 0
        ? probabilities
        : { ...Object.fromEntries(Object.entries(probabilities).map(([c, p]) => [c, p / 2])), other: 0.5 },
  }));
  for (const [name, file] of Object.entries({ behaviour, less: { ...behaviour, policy: 'less', rules } })) {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(file));
    for (const scanAbove of [1e9, 0]) {
      const { warnings } = await auditTarget(store, path, { scanAbove });
      const said = warnings.filter((w) => w.code === 'target-is-behaviour').map((w) => w.message);
      expect(said, `${name} ${scanAbove}`).toEqual(
        name === 'less'
          ? []
          : [
              '"behaviour" gives every logged action the behaviour\'s own probability: weights of 1 test nothing',
            ],
      );
    }
  }
  store.close();
});

test('every number says of which policy and on which tasks it is', () => {
  const a = audit(logRatiosFromPolicyFile(trajectoriesOf(simulated(20, 5, 2)), policyFile('soft')));
  for (const e of a.evaluation!.estimates)
    expect(e.estimand).toBe('E[G] under "soft" on new tasks like these');
  expect(a.evaluation!.behaviour.estimand).toBe('E[G] under the behaviour on new tasks like these');
});
