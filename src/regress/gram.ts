import { failure } from '../schema/error.ts';
import type { Design } from './design.ts';

/**
 * Sums over rows, all a least-squares fit needs of the data: sums of two sets of rows add, so the sums
 * of a training part are the total less the held-out fold.
 */
export interface Gram {
  readonly n: number;
  readonly columns: number; // p
  readonly responses: number; // C
  readonly x: Float64Array; // [p] Σ φ
  readonly xx: Float64Array; // [p, p] Σ φφᵀ, lower triangle
  readonly xy: Float64Array; // [p, C] Σ φ yᵀ
  readonly y: Float64Array; // [C] Σ y
  readonly yy: Float64Array; // [C] Σ y²
}

/** A column's second moment below this share of the whole is what subtraction left over. */
const NOTHING = 1e-13;

/** Rows with more than a DENSE-th of their columns filled are summed BLOCK at a time. */
const DENSE = 2;
const BLOCK = 4;

/** Writes the C responses of a row. */
export type Responses = (row: number, out: Float64Array) => void;

/**
 * The sums of each group of rows, in one pass: Σ φφᵀ by group costs n · nnz² once.
 * @param rows the rows to read, in the order of summation
 * @param groupOf group of each row of the design, 0 … groups − 1
 */
export function gramsByGroup(
  design: Design,
  rows: Int32Array,
  groupOf: Int32Array,
  groups: number,
  responses: number,
  respond: Responses,
): Gram[] {
  const p = design.columns;
  const C = responses;
  const counts = new Int32Array(groups);
  const grams = Array.from({ length: groups }, () => emptyGram(p, C));
  const indices = new Int32Array(design.maxEntries);
  const values = new Float64Array(design.maxEntries);
  const target = new Float64Array(C);
  const blocks = Array.from({ length: groups }, () => ({ rows: 0, values: new Float64Array(p * BLOCK) }));
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const g = groupOf[row]!;
    const { x, xx, xy, y, yy } = grams[g]!;
    const entries = design.gather(row, indices, values);
    respond(row, target);
    counts[g] = counts[g]! + 1;
    for (let c = 0; c < C; c++) {
      const t = target[c]!;
      y[c] = y[c]! + t;
      yy[c] = yy[c]! + t * t;
    }
    for (let a = 0; a < entries; a++) {
      const j = indices[a]!;
      const value = values[a]!;
      x[j] = x[j]! + value;
      const first = j * C;
      for (let c = 0; c < C; c++) xy[first + c] = xy[first + c]! + value * target[c]!;
    }
    if (entries * DENSE > p) {
      const block = blocks[g]!;
      for (let a = 0; a < entries; a++) block.values[indices[a]! * BLOCK + block.rows] = values[a]!;
      if (++block.rows === BLOCK) addBlock(xx, block, p);
      continue;
    }
    for (let a = 0; a < entries; a++) {
      const value = values[a]!;
      const line = indices[a]! * p;
      for (let b = 0; b <= a; b++) {
        const at = line + indices[b]!;
        xx[at] = xx[at]! + value * values[b]!;
      }
    }
  }
  for (let g = 0; g < groups; g++) addBlock(grams[g]!.xx, blocks[g]!, p);
  for (const { x, y } of grams) requireFinite(x, y, design);
  return grams.map((gram, g) => ({ ...gram, n: counts[g]! }));
}

/** a + b. */
export const addGrams = (a: Gram, b: Gram): Gram => combine(a, b, 1);
/** a − b; a column of which nothing but rounding is left is 0. */
export function subtractGrams(a: Gram, b: Gram): Gram {
  const d = combine(a, b, -1);
  const p = d.columns;
  for (let j = 0; j < p; j++) {
    if (d.xx[j * p + j]! > NOTHING * a.xx[j * p + j]!) continue;
    d.x[j] = 0;
    for (let k = 0; k < p; k++) d.xx[Math.max(j, k) * p + Math.min(j, k)] = 0;
    d.xy.fill(0, j * d.responses, (j + 1) * d.responses);
  }
  return d;
}

/**
 * Σ (y_c − β₀ − φᵀβ)² over the rows behind the sums, without reading them:
 *   Σy² − 2(β₀Σy + βᵀΣφy) + nβ₀² + 2β₀βᵀΣφ + βᵀ(Σφφᵀ)β
 * @param beta [p]
 */
export function squaredError(gram: Gram, response: number, intercept: number, beta: Float64Array): number {
  const { n, columns: p, responses: C, x, xx, xy, y, yy } = gram;
  let error = yy[response]! - 2 * intercept * y[response]! + n * intercept * intercept;
  for (let j = 0; j < p; j++) {
    const b = beta[j]!;
    if (b === 0) continue;
    let inner = 0;
    const line = j * p;
    for (let k = 0; k < j; k++) inner += xx[line + k]! * beta[k]!;
    error += b * (2 * intercept * x[j]! - 2 * xy[j * C + response]! + 2 * inner + xx[line + j]! * b);
  }
  return error;
}

/** Adds Σ φφᵀ of up to four full rows at once, so that each sum is read and written once for all four. */
function addBlock(xx: Float64Array, block: { rows: number; readonly values: Float64Array }, p: number): void {
  if (block.rows === 0) return;
  const v = block.values;
  for (let j = 0; j < p; j++) {
    const a = v[j * BLOCK]!;
    const b = v[j * BLOCK + 1]!;
    const c = v[j * BLOCK + 2]!;
    const d = v[j * BLOCK + 3]!;
    if (a === 0 && b === 0 && c === 0 && d === 0) continue;
    const line = j * p;
    for (let k = 0, at = 0; k <= j; k++, at += BLOCK)
      xx[line + k] = xx[line + k]! + (a * v[at]! + b * v[at + 1]! + c * v[at + 2]! + d * v[at + 3]!);
  }
  v.fill(0);
  block.rows = 0;
}

function emptyGram(p: number, C: number): Gram {
  return {
    n: 0,
    columns: p,
    responses: C,
    x: new Float64Array(p),
    xx: new Float64Array(p * p),
    xy: new Float64Array(p * C),
    y: new Float64Array(C),
    yy: new Float64Array(C),
  };
}

function combine(a: Gram, b: Gram, sign: 1 | -1): Gram {
  const of = (u: Float64Array, v: Float64Array): Float64Array => {
    const out = new Float64Array(u.length);
    for (let i = 0; i < u.length; i++) out[i] = u[i]! + sign * v[i]!;
    return out;
  };
  return {
    n: a.n + sign * b.n,
    columns: a.columns,
    responses: a.responses,
    x: of(a.x, b.x),
    xx: of(a.xx, b.xx),
    xy: of(a.xy, b.xy),
    y: of(a.y, b.y),
    yy: of(a.yy, b.yy),
  };
}

function requireFinite(x: Float64Array, y: Float64Array, design: Design): void {
  const j = x.findIndex((v) => !Number.isFinite(v));
  if (j >= 0)
    throw failure({
      subject: `feature "${design.names[j]}"`,
      wrong: 'holds a value that is not finite',
      expected: 'finite numbers',
    });
  if (y.some((v) => !Number.isFinite(v)))
    throw failure({ subject: 'regression', wrong: 'has a response that is not finite' });
}
