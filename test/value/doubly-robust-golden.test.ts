import { expect, test } from 'vitest';
import { dm } from '../../src/value/dm.ts';
import { dr, drRecursion } from '../../src/value/dr.ts';
import type { Estimator } from '../../src/value/estimator.ts';
import { wdrAlive } from '../../src/value/wdr-alive.ts';
import { wdrCarried } from '../../src/value/wdr-carried.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import known from '../fixtures/ope-known-answers.json' with { type: 'json' };
import { given, type LoggedTurn, targetOf } from '../helpers/q-columns.ts';
import { minus, over, plus, type Rational, rational, times, toNumber } from '../helpers/rational.ts';

const { trajectories, expected, gamma } = known.golden;
const rows = Object.values(trajectories).map((t) => t.map((row) => row.map(rational)));
const one = rational(1);

/** The rows name Q̂ at the logged action and V̂: a second action carries what makes V̂ = Σ π Q̂. */
const turnOf = ([e, b, r, q, v]: readonly Rational[]): LoggedTurn => ({
  a: 'logged',
  b: toNumber(b!),
  r: toNumber(r!),
  pi: { logged: toNumber(e!), other: toNumber(minus(one, e!)) },
  q: { logged: toNumber(q!), other: toNumber(over(minus(v!, times(e!, q!)), minus(one, e!))) },
});

function run(episodes: readonly (readonly (readonly Rational[])[])[]) {
  const { ratios, columns } = targetOf(episodes.map((turns) => turns.map(turnOf)));
  const w = episodeWeights(ratios, toNumber(rational(gamma)));
  const nuisances = given(ratios, w, columns);
  return { w, nuisances, of: (e: Estimator) => e.estimate(w, stageSums(w), nuisances) };
}
const near = (got: number, exact: string) => {
  const want = toNumber(rational(exact));
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(1e-14 * Math.abs(want));
};
const family = [dm, dr, wdrCarried, wdrAlive];

test('DM, DR and WDR of the golden trajectories, γ = 9/10, against exact rationals', () => {
  const { of } = run(rows);
  near(of(dm).value, expected.DM);
  near(of(dr).value, expected.DR);
  near(of(wdrCarried).value, expected.WDR_carried);
  near(of(wdrAlive).value, expected.WDR_alive);
});

test('the parts: regression is DM, the weights alone are PDIS and WPDIS, and the sum is the value', () => {
  const { of } = run(rows);
  for (const [e, ipw] of [
    [dr, expected.PDIS],
    [wdrCarried, expected.WPDIS_carried],
    [wdrAlive, expected.WPDIS_alive],
  ] as const) {
    const { value, parts } = of(e);
    near(parts!.regression!, expected.DM);
    near(parts!.ipw!, ipw);
    expect(parts!.regression! + parts!.correction!).toBeCloseTo(value, 14);
  }
});

test('the expected DR follows from the definition, and DR as recursion = DR as sum', () => {
  let total = rational(0);
  for (const turns of rows) {
    let D = rational(0);
    for (const [e, b, r, q, v] of [...turns].reverse())
      D = plus(v!, times(over(e!, b!), minus(plus(r!, times(rational(gamma), D)), q!)));
    total = plus(total, over(D, rational(rows.length)));
  }
  expect(minus(total, rational(expected.DR)).p).toBe(0n);
  const { w, nuisances, of } = run(rows);
  const psi = drRecursion(w, nuisances.q!);
  of(dr).psi.forEach((x, i) => {
    expect(psi[i]).toBeCloseTo(x, 13);
  });
});

test('the expected WDR follows from the definition, stage by stage', () => {
  for (const [convention, want] of [
    ['carried', expected.WDR_carried],
    ['alive', expected.WDR_alive],
  ] as const) {
    const zero = rational(0);
    const cumulative = rows.map((turns) => {
      let w = one;
      return turns.map(([e, b]) => {
        w = times(w, over(e!, b!));
        return w;
      });
    });
    const weightAt = (i: number, t: number): Rational => {
      if (t < 0) return one;
      const ws = cumulative[i]!;
      return ws[t] ?? (convention === 'carried' ? ws.at(-1)! : zero);
    };
    let value = zero;
    let g = one;
    for (let t = 0; t < 3; t++) {
      const sumAt = (u: number) => rows.reduce((a, _, i) => plus(a, weightAt(i, u)), zero);
      rows.forEach((turns, i) => {
        const row = turns[t];
        if (row === undefined) return;
        const [, , r, q, v] = row;
        const now = over(weightAt(i, t), sumAt(t));
        const before = over(weightAt(i, t - 1), sumAt(t - 1));
        value = plus(value, times(g, plus(times(now, minus(r!, q!)), times(before, v!))));
      });
      g = times(g, rational(gamma));
    }
    expect(minus(value, rational(want)).p).toBe(0n);
  }
});

test('another reading of the alive convention, w_{t−1} over those alive at t, is 639/200 and not ours', () => {
  const cumulative = rows.map((turns) => {
    let w = one;
    return turns.map(([e, b]) => {
      w = times(w, over(e!, b!));
      return w;
    });
  });
  const zero = rational(0);
  let value = zero;
  let g = one;
  for (let t = 0; t < 3; t++) {
    const alive = cumulative.filter((w) => w.length > t);
    const sumAt = (u: number) => alive.reduce((a, w) => plus(a, u < 0 ? one : w[u]!), zero);
    rows.forEach((turns, i) => {
      if (turns[t] === undefined) return;
      const [, , r, q, v] = turns[t]!;
      const now = over(cumulative[i]![t]!, sumAt(t));
      const before = over(t === 0 ? one : cumulative[i]![t - 1]!, sumAt(t - 1));
      value = plus(value, times(g, plus(times(now, minus(r!, q!)), times(before, v!))));
    });
    g = times(g, rational(gamma));
  }
  const [printed] = /\d+\/\d+$/.exec(known.golden.definitions.WDR)!;
  expect(minus(value, rational(printed)).p).toBe(0n);
  expect(run(rows).of(wdrAlive).value).not.toBeCloseTo(toNumber(value), 1);
});

test('influence values are the derivative: ψ_i − V̂ is n times what one more copy of episode i adds', () => {
  const copies = 400;
  const base = Array.from({ length: copies }, () => rows).flat();
  const at = run(rows);
  const more = rows.map((row) => run([...base, row]));
  for (const e of family) {
    const { value, psi } = at.of(e);
    more.forEach(({ of }, i) => {
      const moved = (of(e).value - value) * (base.length + 1);
      expect(Math.abs(moved - (psi[i]! - value)), `${e.name} ${i}`).toBeLessThan(0.01);
    });
    expect(psi.reduce((a, x) => a + x / psi.length, 0)).toBeCloseTo(value, 13);
  }
});
