import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { mis } from '../../src/value/mis.ts';
import { pdis } from '../../src/value/pdis.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { POLICIES, type PolicyName, policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const run = (episodes: readonly EpisodeInput[], name: PolicyName, cells: 'state' | 'own' = 'state') => {
  const t = trajectoriesOf(episodes);
  const ratios = logRatiosFromPolicyFile(t, policyFile(name));
  const w = episodeWeights(ratios);
  const cell =
    cells === 'state'
      ? Int32Array.from(t.features!.values)
      : Int32Array.from({ length: ratios.values.length }, (_, s) => s);
  const states = stageStates(w, cell, cells === 'state' ? 3 : cell.length);
  const stages = stageSums(w);
  return { w, states, ...mis.estimate(w, stages, { states }), pdis: pdis.estimate(w, stages) };
};

test.prop([fc.integer({ min: 1, max: 1e6 }), fc.constantFrom(...POLICIES)], { numRuns: 20 })(
  'the recursion of the paper, forwards',
  (s, name) => {
    const { w, states, value, psi } = run(simulated(20, 2, s), name);
    // d̂_1 empirical, then d̂_{t+1}(s′) = Σ_s d̂_t(s) mean ρ 1{s′}, value Σ_t Σ_s d̂_t(s) mean ρ r.
    let d = new Map<number, number>();
    for (let i = 0; i < w.n; i++) {
      const x = states.state[w.offsets[i]!]!;
      d.set(x, (d.get(x) ?? 0) + 1 / w.n);
    }
    let want = 0;
    for (let t = 0; t < w.stages; t++) {
      const rows = Array.from({ length: w.n }, (_, i) => i).filter(
        (i) => w.offsets[i]! + t < w.offsets[i + 1]!,
      );
      const count = (x: number) => rows.filter((i) => states.state[w.offsets[i]! + t] === x).length;
      const next = new Map<number, number>();
      for (const i of rows) {
        const row = w.offsets[i]! + t;
        const x = states.state[row]!;
        const share = ((d.get(x) ?? 0) * Math.exp(w.logRatios[row]!)) / count(x);
        want += share * w.rewards[row]!;
        if (row + 1 < w.offsets[i + 1]!) {
          const y = states.state[row + 1]!;
          next.set(y, (next.get(y) ?? 0) + share);
        }
      }
      d = next;
    }
    expect(Math.abs(value - want)).toBeLessThanOrEqual(1e-12 * Math.max(1, Math.abs(want)));
    expect(psi.reduce((a, x) => a + x / w.n, 0)).toBeCloseTo(value, 12);
  },
);

test('ψ is the derivative: n times what one more copy of an episode adds', () => {
  const episodes = simulated(12, 1, 8);
  const copies = 300;
  const copy = (k: number) => episodes.map((e) => ({ ...e, episode_id: `${e.episode_id} ${k}` }));
  const base = Array.from({ length: copies }, (_, k) => copy(k)).flat();
  for (const name of ['soft', 'patient'] as const) {
    const at = run(episodes, name);
    episodes.slice(0, 6).forEach((e, i) => {
      const moved = run([...base, { ...e, episode_id: 'more' }], name).value;
      const derivative = (moved - at.value) * (base.length + 1);
      const want = at.psi[i]! - at.value;
      expect(Math.abs(derivative - want)).toBeLessThan(0.01 * Math.max(1, Math.abs(want)));
    });
  }
});

test('with every turn its own state nothing is marginalised: PDIS', () => {
  for (const name of POLICIES) {
    const { value, pdis: want } = run(simulated(20, 2, 4), name, 'own');
    expect(Math.abs(value - want.value)).toBeLessThanOrEqual(1e-10 * Math.max(1, Math.abs(want.value)));
  }
});

test('on many rollouts it is far less noisy than PDIS, and makes no interval', () => {
  const { psi, pdis: wide, noInterval } = run(simulated(300, 5, 6), 'patient');
  const spread = (x: Float64Array) => {
    const m = x.reduce((a, v) => a + v, 0) / x.length;
    return x.reduce((a, v) => a + (v - m) ** 2, 0) / x.length;
  };
  expect(spread(psi)).toBeLessThan(spread(wide.psi) / 10); // the law says .47 against 67
  expect(noInterval).toMatch(/Markov/);
});

test('without declared states it is refused, with how to get them', () => {
  const { w } = run(simulated(5, 1, 4), 'soft');
  expect(() => mis.estimate(w, stageSums(w))).toThrow(/^MIS: needs finite states.*stageStates\(\)/);
});
