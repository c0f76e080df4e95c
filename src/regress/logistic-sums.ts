import { Matrix } from 'ml-matrix';
import type { Design } from './design.ts';
import type { Rows, Workspace } from './logistic-rows.ts';
import { positive, pseudoInverse } from './ridge.ts';

/** Parameters: class c ≥ 1 of those present holds [intercept, q coefficients] at (c − 1)(q + 1), standardised. */
export interface Objective {
  /** −log-likelihood + penalty. */
  readonly value: number;
  readonly logLikelihood: number;
  readonly gradient: Float64Array;
}

/** Value and gradient in one pass. O(n · nnz · C). */
export function objective(
  design: Design,
  y: Int32Array,
  r: Rows,
  w: Workspace,
  theta: Float64Array,
  lambda: number,
): Objective {
  const K1 = r.present.length - 1;
  const q1 = r.active.length + 1;
  const raw = unstandardised(r, theta);
  const gradient = new Float64Array(w.size);
  let loss = 0;
  let lost = 0; // what the sum has dropped (Kahan 1965)
  for (const row of r.rows) {
    const entries = gatherActive(design, r, w, row);
    const own = r.place[y[row]!]!;
    const term = probabilities(r, w, raw, entries, own) - lost;
    const next = loss + term;
    lost = next - loss - term;
    loss = next;
    for (let c = 0; c < K1; c++) {
      const residual = w.eta[c + 1]! - (own === c + 1 ? 1 : 0);
      const line = c * q1;
      gradient[line] = gradient[line]! + residual;
      for (let k = 0; k < entries; k++) {
        const j = line + w.indices[k]!;
        gradient[j] = gradient[j]! + residual * w.values[k]!;
      }
    }
  }
  standardiseGradient(r, gradient);
  const penalty = addPenalty(r, theta, lambda, gradient);
  return { value: loss + penalty, logLikelihood: -loss, gradient };
}

/** Second derivatives of the objective. O(n · nnz² · C²/4). */
export function hessian(design: Design, r: Rows, w: Workspace, theta: Float64Array, lambda: number): Matrix {
  const K1 = r.present.length - 1;
  const q1 = r.active.length + 1;
  const pairs = (K1 * (K1 + 1)) / 2;
  const raw = unstandardised(r, theta);
  // By pair of columns j ≥ k, then by pair of classes c ≥ d: one stretch for each product of features.
  const sums = new Float64Array(((q1 * (q1 + 1)) / 2) * pairs);
  const curve = new Float64Array(pairs);
  const columns = new Int32Array(design.maxEntries + 1);
  const values = new Float64Array(design.maxEntries + 1).fill(1);
  for (const row of r.rows) {
    const entries = gatherActive(design, r, w, row);
    probabilities(r, w, raw, entries, 0);
    for (let c = 0, i = 0; c < K1; c++)
      for (let d = 0; d <= c; d++, i++) curve[i] = w.eta[c + 1]! * ((c === d ? 1 : 0) - w.eta[d + 1]!);
    for (let k = 0; k < entries; k++) {
      columns[k + 1] = w.indices[k]!;
      values[k + 1] = w.values[k]!;
    }
    for (let a = 0; a <= entries; a++) {
      const j = columns[a]!;
      const line = (j * (j + 1)) / 2;
      for (let b = 0; b <= a; b++) {
        const x = values[a]! * values[b]!;
        const at = (line + columns[b]!) * pairs;
        for (let i = 0; i < pairs; i++) sums[at + i] = sums[at + i]! + x * curve[i]!;
      }
    }
  }
  const H = Matrix.zeros(w.size, w.size);
  const of = (j: number, k: number, i: number): number => sums[((j * (j + 1)) / 2 + k) * pairs + i]!;
  for (let c = 0, i = 0; c < K1; c++)
    for (let d = 0; d <= c; d++, i++)
      for (let j = 0; j < q1; j++)
        for (let k = 0; k <= j; k++) {
          let h = standardised(r, (a, b) => of(a, b, i), j, k);
          if (j > 0 && j === k) h += lambda * ((c === d ? 1 : 0) - 1 / (K1 + 1));
          for (const [s, t] of [
            [c * q1 + j, d * q1 + k],
            [c * q1 + k, d * q1 + j],
          ] as const) {
            H.set(s, t, h);
            H.set(t, s, h);
          }
        }
  return H;
}

/** Adds the gradient of the penalty at θ, which is linear in θ; gives the penalty itself. */
export function addPenalty(r: Rows, theta: Float64Array, lambda: number, gradient: Float64Array): number {
  const K1 = r.present.length - 1;
  const q1 = r.active.length + 1;
  let penalty = 0;
  for (let a = 1; a < q1; a++) {
    let sum = 0;
    for (let c = 0; c < K1; c++) sum += theta[c * q1 + a]!;
    for (let c = 0; c < K1; c++) {
      const at = c * q1 + a;
      const pull = lambda * (theta[at]! - sum / (K1 + 1));
      penalty += 0.5 * theta[at]! * pull;
      gradient[at] = gradient[at]! + pull;
    }
  }
  return penalty;
}

/** From derivatives on the features as given to those on the standardised. */
export function standardiseGradient(r: Rows, gradient: Float64Array): void {
  const q1 = r.active.length + 1;
  for (let line = 0; line < gradient.length; line += q1)
    for (let a = 1; a < q1; a++)
      gradient[line + a] = (gradient[line + a]! - r.mean[a - 1]! * gradient[line]!) / r.scale[a - 1]!;
}

/** The same of second derivatives: entry (j, k), k ≤ j, of sums over products of features as given. */
export function standardised(r: Rows, of: (j: number, k: number) => number, j: number, k: number): number {
  if (j === 0) return of(0, 0);
  const m = r.mean[j - 1]!;
  const h = of(j, k) - m * of(k, 0);
  if (k === 0) return h / r.scale[j - 1]!;
  return (h - r.mean[k - 1]! * (of(j, 0) - m * of(0, 0))) / (r.scale[j - 1]! * r.scale[k - 1]!);
}

/** Solves with a Hessian; by the pseudo-inverse where it is singular. */
export function factorise(H: Matrix): { solve: (g: Float64Array) => Float64Array; singular: boolean } {
  const factor = positive(H);
  const inverse = factor === null ? pseudoInverse(H) : null;
  const solve = (g: Float64Array): Float64Array => {
    const right = Matrix.columnVector(g);
    return Float64Array.from((factor === null ? inverse!.mmul(right) : factor.solve(right)).to1DArray());
  };
  return { solve, singular: factor === null };
}

/** Active entries of a row into the workspace, columns from 1. */
export function gatherActive(design: Design, r: Rows, w: Workspace, row: number): number {
  const entries = design.gather(row, w.indices, w.values);
  let kept = 0;
  for (let k = 0; k < entries; k++) {
    const a = r.at[w.indices[k]!]!;
    if (a === 0) continue;
    w.indices[kept] = a;
    w.values[kept++] = w.values[k]!;
  }
  return kept;
}

/** p of the present classes into `eta`; gives −log p of one of them. */
export function probabilities(
  r: Rows,
  w: Workspace,
  raw: Float64Array,
  entries: number,
  own: number,
): number {
  const K = r.present.length;
  const q1 = r.active.length + 1;
  const { eta } = w;
  eta[0] = 0;
  let top = 0;
  for (let c = 1; c < K; c++) {
    const line = (c - 1) * q1;
    let sum = raw[line]!;
    for (let k = 0; k < entries; k++) sum += w.values[k]! * raw[line + w.indices[k]!]!;
    eta[c] = sum;
    if (sum > top) top = sum;
  }
  let total = 0;
  for (let c = 0; c < K; c++) total += Math.exp(eta[c]! - top);
  const log = top + Math.log(total);
  const loss = log - eta[own]!;
  for (let c = 0; c < K; c++) eta[c] = Math.exp(eta[c]! - log);
  return loss;
}

/** The parameters on the features as given. */
export function unstandardised(r: Rows, theta: Float64Array): Float64Array {
  const q1 = r.active.length + 1;
  const raw = Float64Array.from(theta);
  for (let line = 0; line < raw.length; line += q1)
    for (let a = 1; a < q1; a++) {
      raw[line + a] = raw[line + a]! / r.scale[a - 1]!;
      raw[line] = raw[line]! - raw[line + a]! * r.mean[a - 1]!;
    }
  return raw;
}
