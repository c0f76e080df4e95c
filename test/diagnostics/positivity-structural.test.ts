import { expect, test } from 'vitest';
import { bothPolicies } from '../../src/diagnostics/both-policies.ts';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { realisticOptimum } from '../../src/diagnostics/realistic-optimum.ts';
import { isRealistic } from '../../src/diagnostics/realistic-set.ts';
import { truncationCurve } from '../../src/diagnostics/truncation-curve.ts';
import { unsupportedBounds } from '../../src/diagnostics/unsupported-bounds.ts';
import { behaviourFromPolicyFile } from '../../src/policy/behaviour-table.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { withDeclaredBehaviour } from '../../src/weights/declared-behaviour.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import known from '../fixtures/positivity-structural.json' with { type: 'json' };
import { trajectoriesOf } from '../helpers/agent-turns.ts';

// The whole law as 1,600 rollouts of equal probability: every probability is a multiple of 1/1600.
const bern = (p: number, a: number) => (a === 1 ? p : 1 - p);
const b1 = (x1: number) => (1 + 2 * x1) / 4;
const p2 = (x1: number, a1: number) => (1 + x1 + a1) / 4;
const b2 = (x1: number, a1: number, x2: number) =>
  a1 === 1 && x2 === 0 ? 0 : x1 + a1 + x2 === 3 ? 1 / 50 : (1 + 2 * x2 + a1) / 5;
const r1 = (x1: number, a1: number) => ((2 * x1 - 1) * a1) / 2;
const m2 = (x1: number, a1: number, x2: number, a2: number) => x1 + a2 * (2 * x2 - 1) + (a1 * a2) / 2;
const bits = [0, 1];
const histories = bits.flatMap((x1) => bits.flatMap((a1) => bits.map((x2) => [x1, a1, x2] as const)));
const episodes: EpisodeInput[] = histories.flatMap(([x1, a1, x2]) =>
  bits.flatMap((a2) => {
    const p = 0.5 * bern(b1(x1), a1) * bern(p2(x1, a1), x2) * bern(b2(x1, a1, x2), a2);
    return Array.from({ length: Math.round(1600 * p) }, (_, i) => ({
      episode_id: `${x1}${a1}${x2}${a2}-${i}`,
      turns: [
        {
          reward: r1(x1, a1),
          action_class: String(a1),
          behaviour_log_propensity: Math.log(bern(b1(x1), a1)),
          features: [x1, -1],
        },
        {
          reward: m2(x1, a1, x2, a2),
          action_class: String(a2),
          behaviour_log_propensity: Math.log(bern(b2(x1, a1, x2), a2)),
          features: [x1, x2],
        },
      ],
    }));
  }),
);
const t = trajectoriesOf(episodes);
const of = (p: number) => ({ '0': 1 - p, '1': p });
const file = (rules: object[]) => checkPolicyFile({ policy: 'p', trained_on: 'none', rules });
const behaviour = behaviourFromPolicyFile(
  t,
  file([
    ...bits.map((x1) => ({ when: { turn: 0, 'features.0': x1 }, probabilities: of(b1(x1)) })),
    ...histories.map(([x1, a1, x2]) => ({
      when: { 'features.0': x1, 'features.1': x2, last_action_class: String(a1) },
      probabilities: of(b2(x1, a1, x2)),
    })),
  ]),
);
const targets = {
  always_1: [{ probabilities: of(1) }],
  x2rule: [
    ...bits.map((x1) => ({ when: { turn: 0, 'features.0': x1 }, probabilities: of(x1) })),
    ...bits.map((x2) => ({ when: { 'features.1': x2 }, probabilities: of(x2) })),
  ],
  soft: [
    { when: { turn: 0 }, probabilities: of(0.5) },
    ...bits.map((x2) => ({ when: { 'features.1': x2 }, probabilities: of(x2 ? 0.75 : 0.25) })),
  ],
};
const ratiosOf = (name: keyof typeof targets) =>
  withDeclaredBehaviour(logRatiosFromPolicyFile(t, file(targets[name])), behaviour);
const near = (got: number, want: number) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    1e-12 * Math.max(1, Math.abs(want)),
  );

test.each(['always_1', 'x2rule', 'soft'] as const)(
  'unsupported mass, sharp bounds and what naive weighting finds: %s',
  (name) => {
    const want = known[name];
    const ratios = ratiosOf(name);
    expect(ratios.warnings).toEqual([]);
    const w = episodeWeights(ratios);
    expect(w.n).toBe(1600);
    const both = bothPolicies(ratios);
    if (typeof both === 'string') throw new Error(both);
    const [least, most] = known.reward2_mean_bounds.map(Number) as [number, number];
    const bounds = unsupportedBounds(both, w, [least, most], 'remaining value');
    expect(bounds.mass === 0).toBe(want.identified);
    near(bounds.mass, want.unsupported_mass_under_pi.value);
    near(bounds.lo, want.bounds[0]!.value);
    near(bounds.hi, want.bounds[1]!.value);
    near(bounds.hi - bounds.lo, want['width=mass*(HI-LO)'].value);
    expect(want.value_if_truth_is_exact_two_stage.value).toBeGreaterThanOrEqual(bounds.lo - 1e-12);
    expect(want.value_if_truth_is_exact_two_stage.value).toBeLessThanOrEqual(bounds.hi + 1e-12);
    const [uncapped] = truncationCurve(w.weight, w.returns).points;
    near(uncapped!.ipw, want.E_naive_IS.value);
    near(uncapped!.hajek, want.naive_SNIS_limit.value);
    near(uncapped!.meanWeight, want.E_weight.value);
    const squares = w.weight.reduce((sum, x) => sum + x * x, 0) / w.n;
    near(squares, want.E_w2_supported.value);
    near(1 / squares, want.ESS_fraction_supported.value);
  },
);

test('bounds from the range of the whole return hold the truth too', () => {
  const { unsupportedBounds: u } = diagnose(ratiosOf('always_1'), episodeWeights(ratiosOf('always_1')), {
    range: [-2.5, 3.5],
  });
  near(u!.supported, known.always_1.E_naive_IS.value);
  near(u!.hi - u!.lo, 6 * 0.375);
  expect(u!.lo).toBeLessThanOrEqual(known.always_1.bounds[0]!.value);
  expect(u!.hi).toBeGreaterThanOrEqual(known.always_1.bounds[1]!.value);
});

test.each([
  ['0', 0],
  ['1/20', 0.05],
  ['3/10', 0.3],
] as const)('the best realistic policy, α = %s', (name, alpha) => {
  const want = known[`optimal_realistic_alpha_${name}`];
  const cells = new Int32Array(t.turns.turn.length);
  const code = (x: string) => t.turns.actionClass.values.indexOf(x);
  for (let s = 0; s < cells.length; s += 2) {
    const x1 = t.features!.values[2 * s]!;
    const x2 = t.features!.values[2 * s + 3]!;
    cells[s] = x1;
    cells[s + 1] = 2 + 4 * x1 + 2 * (t.turns.actionClass.codes[s] === code('1') ? 1 : 0) + x2;
  }
  const C = behaviour.classes.length;
  const best = realisticOptimum(t, cells, (s, a) => behaviour.probabilities[s * C + a]!, alpha);
  near(best.value, want.V.value);
  const setAt = (s: number) =>
    bits.filter((a) => isRealistic(behaviour.probabilities[s * C + code(String(a))]!, alpha));
  histories.forEach(([x1, a1, x2]) => {
    const s = cells.indexOf(2 + 4 * x1 + 2 * a1 + x2);
    const key = `(${x1}, ${a1}, ${x2})` as keyof typeof want.d2;
    expect(t.turns.actionClass.values[best.choice[s]!], key).toBe(String(want.d2[key]));
    expect(setAt(s)).toEqual(want.action_sets2[key]);
  });
  for (const x1 of bits) {
    const s = cells.indexOf(x1);
    expect(setAt(s)).toEqual(want.action_sets1[String(x1) as '0']);
    expect(t.turns.actionClass.values[best.choice[s]!]).toBe(String(want.d1[String(x1) as '0']));
  }
});

test('the truncation curve at given caps', () => {
  const w = episodeWeights(ratiosOf('x2rule'));
  const want = known.truncation_curve_x2rule;
  const { points } = truncationCurve(
    w.weight,
    w.returns,
    want.map((x) => Number(x.M)),
  );
  points.forEach((p, i) => {
    near(p.ipw, want[i]!.E_IS.value);
    near(p.meanWeight, want[i]!.E_w.value);
    near(p.hajek, want[i]!.SNIS_limit.value);
  });
});

test('the rule that names the hole', () => {
  const ratios = ratiosOf('always_1');
  const { rules } = diagnose(ratios, episodeWeights(ratios));
  expect(rules![0]!.rule).toBe('last_action_class = 1 and features.1 = 0: 0 of 250 logged turns take 1');
  near(rules![0]!.mass, 0.375);
  expect(diagnose(ratiosOf('x2rule'), episodeWeights(ratiosOf('x2rule'))).rules).toEqual([]);
});

test('realistic sets: sizes, what they exclude, and the value within them', () => {
  const ratios = ratiosOf('always_1');
  const { realistic } = diagnose(ratios, episodeWeights(ratios));
  const at = (alpha: number) => realistic!.find((r) => r.alpha === alpha)!;
  // Two classes everywhere but at turn 2 where a₁ = 1 and x₂ = 0: 1600 (½·¼·½ + ½·¾·¼) = 250 of 1,600.
  near(at(0).meanSize, (1600 * 2 + 1350 * 2 + 250) / 3200);
  near(at(0).excluded, 250 / 3200);
  near(at(0).wantedExcluded, 250 / 3200);
  // always_1 within b > 0: takes 0 at the hole instead. Its exact value by the law.
  const exact = bits.reduce(
    (sum, x1) =>
      sum + 0.5 * (r1(x1, 1) + bits.reduce((v, x2) => v + bern(p2(x1, 1), x2) * m2(x1, 1, x2, x2), 0)),
    0,
  );
  near(at(0).value!, exact);
});

test('positivity from the logged actions alone misses the hole and nothing else', () => {
  const ratios = ratiosOf('soft');
  const w = episodeWeights(ratios);
  const { behaviour: _, ...logged } = ratios;
  const at = (r: typeof logged) => diagnose(r, w).stages[1]!.positivity!;
  const [all, some] = [at(ratios), at(logged)];
  expect([all.from, some.from]).toEqual(['all probabilities', 'logged actions']);
  // The hole: 250 of 1,600 rows, where soft takes 1 with ¼. The near violation: ½ · ¾ · ¾ of them, ¾.
  all.below.forEach(({ alpha, share }, k) => {
    near(share, (250 / 1600) * 0.25 + (alpha > 0.02 ? 0.5 * 0.75 * 0.75 * 0.75 : 0));
    near(some.below[k]!.share, share - (250 / 1600) * 0.25);
  });
});

test('a stochastic target within realistic actions: renormalised, by the law', () => {
  const ratios = ratiosOf('soft');
  const { realistic } = diagnose(ratios, episodeWeights(ratios));
  for (const [alpha, least] of [
    [0, 0],
    [0.05, 0.05],
    [0.2, 0.2],
  ] as const) {
    const within = (pi: number, b: number) => {
      const one = b > 0 && b >= least ? pi : 0;
      const zero = 1 - b > 0 && 1 - b >= least ? 1 - pi : 0;
      return one / (one + zero);
    };
    let exact = 0;
    for (const [x1, a1, x2] of histories)
      for (const a2 of bits)
        exact +=
          0.5 *
          bern(within(0.5, b1(x1)), a1) *
          bern(p2(x1, a1), x2) *
          bern(within(x2 ? 0.75 : 0.25, b2(x1, a1, x2)), a2) *
          (r1(x1, a1) + m2(x1, a1, x2, a2));
    near(realistic!.find((r) => r.alpha === alpha)!.value!, exact);
  }
});
