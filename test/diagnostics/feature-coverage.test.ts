import { fc, test } from '@fast-check/vitest';
import { EigenvalueDecomposition, inverse, Matrix } from 'ml-matrix';
import { expect } from 'vitest';
import { featureCoverage } from '../../src/diagnostics/feature-coverage.ts';
import type { SparseRows } from '../../src/trajectories/sparse.ts';
import { endRow, finishRows, pushEntry, sparseBuilder } from '../../src/trajectories/sparse-builder.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

function sparse(rows: readonly (readonly number[])[]): SparseRows {
  const b = sparseBuilder(rows.length);
  for (const row of rows) {
    row.forEach((x, j) => {
      pushEntry(b, j, x);
    });
    endRow(b);
  }
  return finishRows(
    b,
    rows[0]!.map((_, j) => `x${j}`),
  );
}
/** Episodes of two turns with the given log-ratios, [episodes][2]. */
const weightsOf = (logs: readonly (readonly number[])[]) =>
  episodeWeights({
    target: 'x',
    measure: 'logprob',
    trainedOn: 'none',
    trajectories: trajectoriesOf(
      logs.map((turns, i) => ({ episode_id: `e${i}`, reward: 1, turns: turns.map(() => ({})) })),
    ),
    values: Float64Array.from(logs.flat()),
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: null,
  });
const near = (got: number, want: number) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    1e-9 * Math.max(1, Math.abs(want)),
  );

test('one column for each of three cells: closed form', () => {
  // Cells 0 1 0 1 0 2 over three episodes; weights of the turns 1 1, 2 2, 1 3.
  const w = weightsOf([
    [0, 0],
    [Math.log(2), 0],
    [0, Math.log(3)],
  ]);
  const x = sparse([0, 1, 0, 1, 0, 2].map((k) => [0, 1, 2].map((j) => (j === k ? 1 : 0))));
  const got = featureCoverage(x, w, 0.5);
  // n = (3, 2, 1), target (1 + 2 + 1, 1 + 2, 3) = (4, 3, 3) of 10; bonus 1/(n + ½).
  near(got.underTarget!, (4 / 3.5 + 3 / 2.5 + 3 / 1.5) / 10);
  near(got.underBehaviour!, (3 / 3.5 + 2 / 2.5 + 1 / 1.5) / 6);
  near(got.largest!, 1 / 1.5);
  near(got.amplification!, 3 / 10 / (1.5 / 6));
});

test('the target is the behaviour: no amplification but for the penalty', () => {
  const w = weightsOf(Array.from({ length: 20 }, () => [0, 0]));
  const x = sparse(Array.from({ length: 40 }, (_, s) => [1, s % 7, (s * s) % 5]));
  const got = featureCoverage(x, w, 1e-9);
  near(got.underTarget!, got.underBehaviour!);
  near(got.underBehaviour! * 40, 3); // trace of the projection: the rank
  expect(Math.abs(got.amplification! - 1)).toBeLessThan(1e-8);
});

// The decomposition below fails on numbers near the smallest double; ours is tried on them apart.
const value = fc.double({ min: -2, max: 2, noNaN: true }).map((x) => (Math.abs(x) < 1e-50 ? 0 : x));
const turn = fc.tuple(
  fc.array(value, { minLength: 3, maxLength: 3 }),
  fc.double({ min: -1, max: 1, noNaN: true }),
);
test.prop([fc.array(fc.tuple(turn, turn), { minLength: 2, maxLength: 12 })])(
  'direct dense computation',
  (episodes) => {
    const w = weightsOf(episodes.map((e) => e.map(([, log]) => log)));
    const phi = new Matrix(episodes.flatMap((e) => e.map(([x]) => x)));
    const got = featureCoverage(sparse(episodes.flatMap((e) => e.map(([x]) => x))), w, 1);
    const N = phi.rows;
    const weight = episodes.flatMap(([[, a], [, b]]) => [Math.exp(a), Math.exp(a + b)]);
    const total = weight.reduce((a, b) => a + b, 0);
    const L = Matrix.add(phi.transpose().mmul(phi), Matrix.eye(3));
    const inv = inverse(L);
    const bonus = Array.from({ length: N }, (_, i) => {
      const row = phi.getRowVector(i);
      return row.mmul(inv).mmul(row.transpose()).get(0, 0);
    });
    near(
      got.underTarget!,
      bonus.reduce((s, b, i) => s + (b * weight[i]!) / total, 0),
    );
    near(got.underBehaviour!, bonus.reduce((s, b) => s + b, 0) / N);
    const B = phi
      .transpose()
      .mmul(Matrix.diag(weight))
      .mmul(phi)
      .mul(N / total);
    // Λ^−½ B Λ^−½ by the eigenvectors of Λ: symmetric, so accurate for every draw.
    const { eigenvectorMatrix: U, realEigenvalues: d } = new EigenvalueDecomposition(L, {
      assumeSymmetric: true,
    });
    const half = U.mmul(Matrix.diag(d.map((x) => 1 / Math.sqrt(x)))).mmul(U.transpose());
    const S = half.mmul(B).mmul(half);
    const symmetric = Matrix.add(S, S.transpose()).mul(0.5);
    near(
      got.amplification!,
      Math.max(...new EigenvalueDecomposition(symmetric, { assumeSymmetric: true }).realEigenvalues),
    );
  },
);

test('the smallest of doubles among the features', () => {
  const w = weightsOf([
    [0, 0],
    [0, 0],
  ]);
  const x = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
    [0, -5e-324, 0.5],
  ];
  // Λ = diag(1, 1, 1.25), Σ_π = diag(0, 0, .25)/4.
  near(featureCoverage(sparse(x), w, 1).amplification!, 0.25 / 1.25);
});

test('nothing to say without weight', () => {
  const w = weightsOf([[-Infinity, 0]]);
  expect(featureCoverage(sparse([[1], [1]]), w)).toMatchObject({ underTarget: null, amplification: null });
});
