import { expect, test } from 'vitest';
import { Episode } from '../../src/schema/episode.ts';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import type { LogRatios } from '../../src/weights/ratios.ts';
import known from '../fixtures/ope-known-answers.json' with { type: 'json' };
import { minus, over, plus, type Rational, rational, times, toNumber } from '../helpers/rational.ts';

const { trajectories, expected } = known.golden;
const rows = Object.values(trajectories).map((t) => t.map((row) => row.map(rational)));

function ratiosOf(episodes: readonly (readonly (readonly Rational[])[])[]): LogRatios {
  const t = trajectoriesFromEpisodes(
    episodes.map((turns, i) =>
      Episode.parse({
        episode_id: `e${i}`,
        ending: 'terminated',
        turns: turns.map(([, b, r]) => ({
          reward: toNumber(r!),
          behaviour_log_propensity: Math.log(toNumber(b!)),
        })),
      }),
    ),
  );
  const values = Float64Array.from(
    episodes.flat(),
    ([e, b]) => Math.log(toNumber(e!)) - Math.log(toNumber(b!)),
  );
  const held = { episodes: 0, tasks: 0, known: true };
  return {
    target: 'e',
    measure: 'log_propensity',
    trainedOn: 'none',
    trajectories: t,
    values,
    held,
    warnings: [],
    table: null,
  };
}

const near = (got: number | null, exact: string | Rational) => {
  const want = toNumber(typeof exact === 'string' ? rational(exact) : exact);
  expect(Math.abs(got! - want), `${got} against ${want}`).toBeLessThanOrEqual(1e-15 * Math.abs(want));
};
const result = evaluate(ratiosOf(rows), { discount: 0.9 });
const value = (name: string) => result.estimates.find((e) => e.estimator === name)!.value;

test('the golden trajectories, γ = 9/10, against exact rationals', () => {
  near(result.behaviour.value, expected.mean_return);
  near(value('IS'), expected.IS);
  near(value('WIS'), expected.WIS);
  near(value('PDIS'), expected.PDIS);
  near(value('WPDIS carried'), expected.WPDIS_carried);
  near(value('WPDIS alive'), expected.WPDIS_alive);
  near(value('WPDIS alive-mean-over-n'), expected.WPDIS_alive_mean_over_n);
  near(result.estimates[0]!.ess, expected.ESS);
});

test('the expected rationals follow from the definitions', () => {
  const gamma = rational(known.golden.gamma);
  const zero = rational(0);
  let IS = zero;
  let weight = zero;
  let weighted = zero;
  for (const turns of rows) {
    let w = rational(1);
    let g = rational(1);
    let G = zero;
    for (const [e, b, r] of turns) {
      w = times(w, over(e!, b!));
      G = plus(G, times(g, r!));
      g = times(g, gamma);
    }
    IS = plus(IS, over(times(w, G), rational(rows.length)));
    weighted = plus(weighted, times(w, G));
    weight = plus(weight, w);
  }
  expect(minus(IS, rational(expected.IS)).p).toBe(0n);
  expect(minus(over(weighted, weight), rational(expected.WIS)).p).toBe(0n);
});

test('influence values are the derivative: ψ_i − V̂ is n times what one more copy of episode i adds', () => {
  // θ(F + ε(δ_i − F)) by a small ε, as integer copies of the data with one episode more often.
  const copies = 400;
  const base = Array.from({ length: copies }, () => rows).flat();
  for (const e of result.estimates) {
    const deviations = rows.map((row) => {
      const more = evaluate(ratiosOf([...base, row]), { discount: 0.9 });
      const moved = more.estimates.find((x) => x.estimator === e.estimator)!.value!;
      return (moved - e.value!) * (base.length + 1);
    });
    const naive = Math.sqrt(deviations.reduce((a, d) => a + d * d, 0) / rows.length / rows.length);
    expect(Math.abs(e.seNaive! / naive - 1), e.estimator).toBeLessThan(0.01);
  }
});

test('numeric traps', () => {
  const logs = known.numeric_traps[0]! as { estimate: number; ESS: number };
  const one = [1, 2, 100].map((r) => [[rational(1), rational(1), rational(r)]]);
  const overflow = evaluate({ ...ratiosOf(one), values: Float64Array.of(1000, 999, 0) });
  const of = (name: string) => overflow.estimates.find((e) => e.estimator === name)!;
  for (const name of ['WIS', 'WPDIS carried', 'WPDIS alive', 'WPDIS alive-mean-over-n'])
    expect(of(name).value, name).toBeCloseTo(logs.estimate, 14);
  expect(of('WIS').ess).toBeCloseTo(logs.ESS, 13);
  for (const name of ['IS', 'PDIS']) {
    expect(of(name).value).toBeNull();
    expect(of(name).warnings[0]!.code).toBe('not-computed');
  }
  const same = Array.from({ length: 400 }, () => [rational('1/50'), rational('1/50'), rational(1)]);
  const long = evaluate(ratiosOf([same, same]));
  for (const e of long.estimates) expect(e.value).toBe(400);
  const ratio = known.numeric_traps[1]!.ratio!;
  expect([...episodeWeights(ratiosOf([same, same])).weights]).toEqual(new Array(800).fill(ratio));
});

test('a weight beyond a double on a reward of 0 adds 0, and hides no other', () => {
  const one = [0, 1].map((r) => [[rational(1), rational(1), rational(r)]]);
  const { estimates } = evaluate({ ...ratiosOf(one), values: Float64Array.of(1000, 0) });
  for (const name of ['IS', 'PDIS']) expect(estimates.find((e) => e.estimator === name)!.value).toBe(0.5);
});

test('weights that underflow still normalise', () => {
  const one = [1, 2, 100].map((r) => [[rational(1), rational(1), rational(r)]]);
  const far = evaluate({ ...ratiosOf(one), values: Float64Array.of(-1000, -1001, -2000) });
  const of = (name: string) => far.estimates.find((e) => e.estimator === name)!.value!;
  expect(of('WIS')).toBeCloseTo(1.2689414213699952, 12);
  expect(of('WPDIS carried')).toBeCloseTo(1.2689414213699952, 12);
  expect(of('IS')).toBe(0);
});
