/*
 * A Newton step of a large multinomial fit without its Hessian: conjugate gradients on H d = g with
 *
 *   (H v)_c = Σ_rows p_c (s_c − Σ_d p_d s_d) φ + λ (v_c − v̄),   s_c = φᵀ v_c
 *
 * preconditioned by the blocks of single classes, Σ p_c (1 − p_c) φφᵀ + λ (1 − 1/K) I.
 */
import { type CholeskyDecomposition, Matrix } from 'ml-matrix';
import { failure } from '../schema/error.ts';
import type { Design } from './design.ts';
import type { Rows, Workspace } from './logistic-rows.ts';
import {
  addPenalty,
  gatherActive,
  probabilities,
  standardised,
  standardiseGradient,
  unstandardised,
} from './logistic-sums.ts';
import { positive } from './ridge.ts';

const ROUNDS = 300;
/** The Newton iteration around it corrects what is left. */
const RELATIVE = 1e-3;

/** Solves with the Hessian at θ; λ > 0. Holds n · C probabilities. */
export function conjugateGradients(
  design: Design,
  r: Rows,
  w: Workspace,
  theta: Float64Array,
  lambda: number,
): { solve: (g: Float64Array) => Float64Array; singular: boolean } {
  const { p, blocks } = blocksOf(design, r, w, theta, lambda);
  const q1 = r.active.length + 1;
  const precondition = (g: Float64Array): Float64Array => {
    const out = new Float64Array(g.length);
    blocks.forEach((block, c) => {
      const part = block.solve(Matrix.columnVector(g.subarray(c * q1, (c + 1) * q1)));
      out.set(part.to1DArray(), c * q1);
    });
    return out;
  };
  const solve = (g: Float64Array): Float64Array => {
    const d = new Float64Array(g.length);
    const rest = Float64Array.from(g);
    let z = precondition(rest);
    let direction = Float64Array.from(z);
    let rho = dot(rest, z);
    const enough = RELATIVE ** 2 * rho;
    for (let k = 0; k < ROUNDS && rho > enough && rho > 0; k++) {
      const product = times(design, r, w, p, direction, lambda);
      const share = rho / dot(direction, product);
      for (let i = 0; i < d.length; i++) {
        d[i] = d[i]! + share * direction[i]!;
        rest[i] = rest[i]! - share * product[i]!;
      }
      z = precondition(rest);
      const next = dot(rest, z);
      const turn = next / rho;
      direction = direction.map((x, i) => z[i]! + turn * x);
      rho = next;
    }
    return d;
  };
  return { solve, singular: false };
}

/** H v in one pass. */
function times(
  design: Design,
  r: Rows,
  w: Workspace,
  p: Float64Array,
  v: Float64Array,
  lambda: number,
): Float64Array {
  const K1 = r.present.length - 1;
  const q1 = r.active.length + 1;
  const raw = unstandardised(r, v);
  const out = new Float64Array(v.length);
  const s = new Float64Array(K1);
  for (let i = 0; i < r.n; i++) {
    const entries = gatherActive(design, r, w, r.rows[i]!);
    let mean = 0;
    for (let c = 0; c < K1; c++) {
      let sum = raw[c * q1]!;
      for (let k = 0; k < entries; k++) sum += w.values[k]! * raw[c * q1 + w.indices[k]!]!;
      s[c] = sum;
      mean += p[i * K1 + c]! * sum;
    }
    for (let c = 0; c < K1; c++) {
      const t = p[i * K1 + c]! * (s[c]! - mean);
      const line = c * q1;
      out[line] = out[line]! + t;
      for (let k = 0; k < entries; k++) {
        const j = line + w.indices[k]!;
        out[j] = out[j]! + t * w.values[k]!;
      }
    }
  }
  standardiseGradient(r, out);
  addPenalty(r, v, lambda, out);
  return out;
}

/** Probabilities of every row, [n × (K − 1)], and the Cholesky factor of each class's block. */
function blocksOf(design: Design, r: Rows, w: Workspace, theta: Float64Array, lambda: number) {
  const K1 = r.present.length - 1;
  const q1 = r.active.length + 1;
  const raw = unstandardised(r, theta);
  const p = new Float64Array(r.n * K1);
  const sums = new Float64Array(((q1 * (q1 + 1)) / 2) * K1);
  const curve = new Float64Array(K1);
  for (let i = 0; i < r.n; i++) {
    const entries = gatherActive(design, r, w, r.rows[i]!);
    probabilities(r, w, raw, entries, 0);
    for (let c = 0; c < K1; c++) {
      p[i * K1 + c] = w.eta[c + 1]!;
      curve[c] = w.eta[c + 1]! * (1 - w.eta[c + 1]!);
    }
    for (let a = -1; a < entries; a++) {
      const j = a < 0 ? 0 : w.indices[a]!;
      const x = a < 0 ? 1 : w.values[a]!;
      for (let b = -1; b <= a; b++) {
        const at = ((j * (j + 1)) / 2 + (b < 0 ? 0 : w.indices[b]!)) * K1;
        const xx = x * (b < 0 ? 1 : w.values[b]!);
        for (let c = 0; c < K1; c++) sums[at + c] = sums[at + c]! + xx * curve[c]!;
      }
    }
  }
  const blocks = Array.from({ length: K1 }, (_, c): CholeskyDecomposition => {
    const block = Matrix.zeros(q1, q1);
    const of = (j: number, k: number): number => sums[((j * (j + 1)) / 2 + k) * K1 + c]!;
    for (let j = 0; j < q1; j++)
      for (let k = 0; k <= j; k++) {
        const h = standardised(r, of, j, k) + (j > 0 && j === k ? lambda * (1 - 1 / (K1 + 1)) : 0);
        block.set(j, k, h);
        block.set(k, j, h);
      }
    const factor = positive(block);
    if (factor === null)
      throw failure({
        subject: 'logistic regression',
        wrong: `class ${r.present[c + 1]} cannot be told from the others in double precision`,
        fix: 'Take a larger λ, or merge the class into another.',
      });
    return factor;
  });
  return { p, blocks };
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
