import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { denseDesign } from '../../src/regress/dense-design.ts';
import type { Design } from '../../src/regress/design.ts';
import { type LogisticFit, logistic, logProbabilities } from '../../src/regress/logistic.ts';
import known from '../fixtures/coverage-diagnostics-all.json' with { type: 'json' };
import { fixture, uniform } from '../helpers/agent-turns.ts';

function probabilitiesOf(fit: LogisticFit, design: Design, row: number): number[] {
  const indices = new Int32Array(design.maxEntries);
  const values = new Float64Array(design.maxEntries);
  const out = new Float64Array(fit.classes);
  logProbabilities(fit, indices, values, design.gather(row, indices, values), out);
  return [...out].map(Math.exp);
}
const near = (got: number, want: number, tolerance = 1e-8) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    tolerance * Math.max(1, Math.abs(want)),
  );

test('a saturated binary model gives the empirical proportions: log-odds by hand', () => {
  // x = 0: 3 of 10 are class 1; x = 1: 9 of 12.
  const x = [...new Array(10).fill(0), ...new Array(12).fill(1)];
  const y = Int32Array.from([...x.keys()], (i) => (i < 3 || (i >= 10 && i < 19) ? 1 : 0));
  const design = denseDesign([x]);
  const fit = logistic(design, y, 2);
  near(fit.intercept[1]!, Math.log(3 / 7));
  near(fit.coefficients[1]![0]!, Math.log(9 / 3) - Math.log(3 / 7));
  near(fit.logLikelihood, 3 * Math.log(0.3) + 7 * Math.log(0.7) + 9 * Math.log(0.75) + 3 * Math.log(0.25));
  expect(fit).toMatchObject({ converged: true, separated: false, singular: false, warnings: [] });
});

test('a saturated model of three classes on three levels gives the empirical proportions', () => {
  const counts = [
    [5, 3, 2],
    [1, 8, 4],
    [7, 7, 1],
  ];
  const level: number[] = [];
  const y: number[] = [];
  counts.forEach((of, l) => {
    of.forEach((n, c) => {
      for (let i = 0; i < n; i++) {
        level.push(l);
        y.push(c);
      }
    });
  });
  const design = denseDesign([1, 2].map((l) => level.map((x) => (x === l ? 1 : 0))));
  const fit = logistic(design, Int32Array.from(y), 3);
  counts.forEach((of, l) => {
    const total = of.reduce((a, b) => a + b, 0);
    const p = probabilitiesOf(fit, design, level.indexOf(l));
    of.forEach((n, c) => {
      near(p[c]!, n / total, 1e-10);
    });
  });
  near(fit.coefficients[2]![1]!, Math.log(1 / 7) - Math.log(2 / 5), 1e-8);
});

test('one column for every level as well as the intercept: singular is said, the proportions stay', () => {
  const level = [0, 0, 0, 1, 1, 1, 1];
  const y = Int32Array.from([0, 1, 1, 0, 0, 0, 1]);
  const design = denseDesign([0, 1].map((l) => level.map((x) => (x === l ? 1 : 0))));
  const fit = logistic(design, y, 2);
  expect(fit).toMatchObject({ singular: true, separated: false, converged: true });
  expect(fit.warnings.map((w) => w.code)).toEqual(['singular']);
  near(probabilitiesOf(fit, design, 0)[1]!, 2 / 3);
  near(probabilitiesOf(fit, design, 3)[1]!, 1 / 4);
});

test('the coefficients of R’s glm', () => {
  const rows = fixture('coverage-covariates.csv').map((row) => row.map(Number));
  for (const [stage, c, a] of [
    ['stage_1', 2, 3],
    ['stage_2', 5, 6],
  ] as const) {
    const fit = logistic(
      denseDesign([rows.map((r) => r[c]!)]),
      Int32Array.from(rows, (r) => r[a]!),
      2,
    );
    const [intercept, slope] = Object.values(known.g_coef[stage]);
    near(fit.intercept[1]!, intercept!, 1e-6);
    near(fit.coefficients[1]![0]!, slope!, 1e-6);
  }
});

test('weights by estimated propensities give the inverse-probability estimates of R’s polle', () => {
  const rows = fixture('coverage-covariates.csv').map((row) => row.map(Number));
  const g = (
    [
      [2, 3],
      [5, 6],
    ] as const
  ).map(([c, a]) => {
    const design = denseDesign([rows.map((r) => r[c]!)]);
    const fit = logistic(
      design,
      Int32Array.from(rows, (r) => r[a]!),
      2,
    );
    return rows.map((_, i) => probabilitiesOf(fit, design, i));
  });
  for (const [name, target] of [
    ['always_1', () => 1],
    ['C_positive', (x: number) => (x > 0 ? 1 : 0)],
  ] as const) {
    const terms = rows.map((r, i) => {
      const follows = r[3] === target(r[2]!) && r[6] === target(r[5]!);
      return follows ? r[7]! / (g[0]![i]![r[3]!]! * g[1]![i]![r[6]!]!) : 0;
    });
    near(terms.reduce((a, b) => a + b, 0) / rows.length, known.ipw_estimated[name], 1e-6);
  }
});

const vignette = resolve(import.meta.dirname, '../../../shared/cases/polle-two-stage');
test.skipIf(!existsSync(vignette))(
  'glm with a factor, stages pooled (skipped: ../shared is not here)',
  () => {
    const [header, ...lines] = readFileSync(resolve(vignette, 'data2000_vignette.csv'), 'utf8')
      .trim()
      .split('\n');
    const names = header!.split(',');
    const data = lines.map((line) => Object.fromEntries(line.split(',').map((v, i) => [names[i]!, v])));
    const both = [...data.map((r) => ({ r, k: 1 })), ...data.map((r) => ({ r, k: 2 }))];
    const column = (f: (r: Record<string, string>, k: number) => number) => both.map(({ r, k }) => f(r, k));
    const design = denseDesign([
      column((r, k) => Number(r[`L_${k}`])),
      column((r, k) => Number(r[`C_${k}`])),
      column((r) => Number(r.B)),
      column((r) => (r.BB === 'group2' ? 1 : 0)),
      column((r) => (r.BB === 'group3' ? 1 : 0)),
    ]);
    const fit = logistic(
      design,
      Int32Array.from(both, ({ r, k }) => Number(r[`A_${k}`])),
      2,
    );
    const want = Object.values(
      JSON.parse(readFileSync(resolve(vignette, 'expected_vignette.json'), 'utf8')).g_pooled,
    );
    [fit.intercept[1]!, ...fit.coefficients[1]!].forEach((got, i) => {
      near(got, Number(want[i]), 1e-6);
    });
  },
);

function random(n: number, p: number, C: number, seed: number) {
  const u = uniform(seed);
  const x = Array.from({ length: p }, (_, j) =>
    Array.from({ length: n }, () => 5 * j + (1 + j) * (u() - 0.5)),
  );
  const y = Int32Array.from({ length: n }, (_, i) =>
    Math.floor(u() * C * (0.6 + 0.4 * ((x[0]![i]! + 0.5) % 1))),
  );
  return { design: denseDesign(x), x, y };
}

test.prop([fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 2, max: 4 }), fc.constantFrom(0, 0.7, 20)], {
  numRuns: 30,
})('at the optimum the penalised score is 0, whatever the class that is the reference', (seed, C, lambda) => {
  const { design, x, y } = random(120, 3, C, seed);
  const fit = logistic(design, y, C, { lambda, scale: 'none' });
  expect(fit.converged).toBe(true);
  const p = Array.from({ length: 120 }, (_, i) => probabilitiesOf(fit, design, i));
  for (const row of p)
    near(
      row.reduce((a, b) => a + b, 0),
      1,
      1e-12,
    );
  const present = [...new Set(y)];
  for (const c of present) {
    near(
      p.reduce((s, row, i) => s + row[c]! - (y[i] === c ? 1 : 0), 0),
      0,
      1e-7,
    );
    for (let j = 0; j < 3; j++) {
      const centred =
        fit.coefficients[c]![j]! - present.reduce((s, d) => s + fit.coefficients[d]![j]!, 0) / present.length;
      const score = p.reduce((s, row, i) => s + (row[c]! - (y[i] === c ? 1 : 0)) * (x[j]![i]! - 5 * j), 0);
      near(score + lambda * centred, 0, 1e-7);
    }
  }
  const flipped = logistic(
    design,
    y.map((c) => C - 1 - c),
    C,
    { lambda, scale: 'none' },
  );
  for (let i = 0; i < 120; i += 17)
    probabilitiesOf(flipped, design, i).forEach((q, c) => {
      near(q, p[i]![C - 1 - c]!, 1e-8);
    });
});

test('a warm start ends where a cold one does', () => {
  const { design, y } = random(300, 3, 3, 5);
  const all = logistic(design, y, 3);
  const rows = Int32Array.from({ length: 240 }, (_, i) => i);
  const cold = logistic(design, y, 3, { rows });
  const warm = logistic(design, y, 3, { rows, start: all });
  cold.coefficients.forEach((beta, c) => {
    beta.forEach((b, j) => {
      near(warm.coefficients[c]![j]!, b, 1e-8);
    });
  });
});

test('separated classes are found and named; a penalty cures it', () => {
  const x = [-3, -2, -1, 1, 2, 3];
  const z = [1, 0, 1, 0, 0, 1];
  const y = Int32Array.from([0, 0, 0, 1, 1, 1]);
  const design = denseDesign([x, z], ['balance', 'noise']);
  const fit = logistic(design, y, 2, { classNames: ['wait', 'refund'] });
  expect(fit).toMatchObject({ separated: true, converged: false });
  expect(fit.warnings[0]!.message).toMatch(/"balance" separates class refund/);
  expect(logistic(design, y, 2, { lambda: 0.1 })).toMatchObject({
    separated: false,
    converged: true,
    warnings: [],
  });
});

test('quasi-separation: one level whose rows are all of one class', () => {
  const level = [0, 0, 0, 0, 1, 1, 1];
  const fit = logistic(denseDesign([level], ['gold']), Int32Array.from([0, 1, 0, 1, 1, 1, 1]), 2);
  expect(fit.separated).toBe(true);
  near(Math.exp(fit.intercept[1]!), 1, 1e-6);
});

test('no separation where groups merely differ much', () => {
  const u = uniform(3);
  const x = Array.from({ length: 2000 }, () => 10 * (u() - 0.5));
  const y = Int32Array.from(x, (v) => (u() < 1 / (1 + Math.exp(-3 * v)) ? 1 : 0));
  expect(logistic(denseDesign([x]), y, 2)).toMatchObject({ separated: false, converged: true });
});

test('a class without rows has probability 0; one class alone probability 1', () => {
  const design = denseDesign([[0, 1, 2, 3]]);
  const fit = logistic(design, Int32Array.from([0, 2, 0, 2]), 3, { lambda: 1 });
  expect(probabilitiesOf(fit, design, 1)[1]).toBe(0);
  expect(probabilitiesOf(logistic(design, new Int32Array(4).fill(1), 3), design, 2)).toEqual([0, 1, 0]);
});

const point = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1 }));
test.prop([fc.array(point, { minLength: 4, maxLength: 14 })], { numRuns: 300 })(
  'on a line, classes are separated exactly where they do not cross',
  (points) => {
    const [zeros, ones] = [0, 1].map((c) => points.filter(([, y]) => y === c).map(([x]) => x));
    if (zeros!.length === 0 || ones!.length === 0 || new Set(points.map(([x]) => x)).size === 1) return;
    const apart = Math.max(...zeros!) <= Math.min(...ones!) || Math.max(...ones!) <= Math.min(...zeros!);
    const fit = logistic(
      denseDesign([points.map(([x]) => x)]),
      Int32Array.from(points, ([, y]) => y),
      2,
    );
    expect(fit.separated).toBe(apart);
    expect(fit.converged).toBe(!apart);
  },
);

test('many classes and columns: conjugate gradients end at the same optimum, where the score is 0', () => {
  const C = 9;
  const u = uniform(8);
  const x = Array.from({ length: 20 }, (_, j) =>
    Array.from({ length: 600 }, () => (u() < 0.3 ? 1 + j / 5 : 0)),
  );
  const y = Int32Array.from({ length: 600 }, (_, i) => Math.floor(C * u() ** (x[0]![i]! > 0 ? 2 : 1)));
  const design = denseDesign(x);
  const lambda = 0.5;
  const fit = logistic(design, y, C, { lambda, scale: 'none' });
  expect(fit).toMatchObject({ converged: true, warnings: [] });
  const p = Array.from({ length: 600 }, (_, i) => probabilitiesOf(fit, design, i));
  for (let c = 0; c < C; c++) {
    near(
      p.reduce((s, row, i) => s + row[c]! - (y[i] === c ? 1 : 0), 0),
      0,
      1e-6,
    );
    for (let j = 0; j < 20; j++) {
      const centred = fit.coefficients[c]![j]! - fit.coefficients.reduce((s, beta) => s + beta[j]!, 0) / C;
      const score = p.reduce((s, row, i) => s + (row[c]! - (y[i] === c ? 1 : 0)) * x[j]![i]!, 0);
      near(score + lambda * centred, 0, 1e-6);
    }
  }
});
