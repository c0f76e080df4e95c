import { expect, test } from 'vitest';
import { modelOfActions, modelPredictsBetter } from '../../src/audit/model-of-actions.ts';
import type { Evidence } from '../../src/audit/reasons.ts';
import { random, uniform } from '../../src/math/random.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { AuditConfig } from '../../src/schema/audit-config.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { storeOf } from '../helpers/store.ts';

const even = checkPolicyFile({
  policy: 'even',
  trained_on: 'none',
  rules: [{ probabilities: { A: 0.5, B: 0.5 } }],
});

/** One turn, eight binary features; A is drawn with 1/(1 + e^−.5 Σ(2x − 1)), and `logged` is what the log says of it. */
function logs(n: number, seed: number, logged: (p: number) => number): EpisodeInput[] {
  return Array.from({ length: n }, (_, i) => {
    const rng = random(seed, i);
    const features = Array.from({ length: 8 }, () => (uniform(rng) < 0.5 ? 0 : 1));
    const p = 1 / (1 + Math.exp(-0.5 * features.reduce((sum: number, x) => sum + 2 * x - 1, 0)));
    const a = uniform(rng) < p;
    const q = logged(p);
    return {
      episode_id: `e${i}`,
      task_id: `t${i % 40}`,
      reward: i % 2,
      turns: [{ action_class: a ? 'A' : 'B', behaviour_log_propensity: Math.log(a ? q : 1 - q), features }],
    };
  });
}

async function found(episodes: readonly EpisodeInput[]) {
  const store = await storeOf(episodes);
  try {
    const ratios = logRatiosFromPolicyFile(await loadTrajectories(store), even);
    const model = await modelOfActions(store, ratios);
    return { model, reasons: modelPredictsBetter({ model } as Evidence, AuditConfig.parse({})) };
  } finally {
    store.close();
  }
}

test('propensities of ½ where many features decide together are outpredicted', async () => {
  for (let seed = 0; seed < 5; seed++) {
    const { model, reasons } = await found(logs(500, seed, () => 0.5));
    expect(reasons.map((r) => [r.verdict, r.code])).toEqual([['refused', 'propensities-outpredicted']]);
    expect(model!.turns).toBe(500);
  }
});

test('right propensities are not, though no model knows them better than they are', async () => {
  for (let seed = 0; seed < 5; seed++) {
    const { model, reasons } = await found(logs(500, seed, (p) => p));
    expect(reasons).toEqual([]);
    expect(model!.gain).toBeLessThan(0);
  }
});
