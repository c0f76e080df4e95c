import { failure } from '../schema/error.ts';
import type { Design } from './design.ts';
import type { Scale } from './ridge.ts';

/** The rows of a training part, what varies in them, and which classes occur. */
export interface Rows {
  readonly rows: Int32Array;
  readonly n: number;
  readonly classes: number; // C
  readonly present: readonly number[]; // [K] classes with a row, ascending; the first is the reference
  readonly place: Int32Array; // [C] place in `present`, −1: absent
  readonly active: readonly number[]; // [q] columns that vary
  readonly at: Int32Array; // [p] place in `active` + 1, 0: constant
  readonly mean: Float64Array; // [q]
  readonly scale: Float64Array; // [q]
}

/** Buffers that every pass over the rows shares. */
export interface Workspace {
  readonly size: number; // (K − 1)(q + 1)
  readonly indices: Int32Array;
  readonly values: Float64Array;
  readonly eta: Float64Array; // [K]
}

/** A column varies where its variance is more than rounding of its second moment. */
const CONSTANT = 1e-12;

export function trainingRows(
  design: Design,
  y: Int32Array,
  classes: number,
  scaling: Scale,
  among?: Int32Array,
): Rows {
  const p = design.columns;
  const indices = new Int32Array(design.maxEntries);
  const values = new Float64Array(design.maxEntries);
  const sum = new Float64Array(p);
  const squares = new Float64Array(p);
  const counts = new Int32Array(classes);
  const all = among ?? Int32Array.from({ length: y.length }, (_, i) => i);
  const rows = all.filter((row) => y[row]! >= 0);
  for (const row of rows) {
    if (y[row]! >= classes)
      throw failure({
        subject: 'regression',
        wrong: 'no such class',
        got: y[row],
        expected: `below ${classes}`,
      });
    counts[y[row]!] = counts[y[row]!]! + 1;
    const entries = design.gather(row, indices, values);
    for (let k = 0; k < entries; k++) {
      sum[indices[k]!] = sum[indices[k]!]! + values[k]!;
      squares[indices[k]!] = squares[indices[k]!]! + values[k]! * values[k]!;
    }
  }
  const n = rows.length;
  const present = [...counts.keys()].filter((c) => counts[c]! > 0);
  const active: number[] = [];
  const mean: number[] = [];
  const scale: number[] = [];
  for (let j = 0; j < p; j++) {
    if (!Number.isFinite(squares[j]!))
      throw failure({
        subject: `feature "${design.names[j]}"`,
        wrong: 'holds a value that is not finite',
        expected: 'finite numbers',
      });
    const second = squares[j]! / n;
    const m = sum[j]! / n;
    const variance = second - m * m;
    if (!(variance > CONSTANT * second)) continue;
    active.push(j);
    mean.push(m);
    scale.push(scaling === 'unit-sd' ? Math.sqrt(variance) : 1);
  }
  const at = new Int32Array(p);
  active.forEach((j, a) => {
    at[j] = a + 1;
  });
  return {
    rows,
    n,
    classes,
    present,
    place: Int32Array.from({ length: classes }, (_, c) => present.indexOf(c)),
    active,
    at,
    mean: Float64Array.from(mean),
    scale: Float64Array.from(scale),
  };
}

export function workspace(design: Design, { present, active }: Rows): Workspace {
  return {
    size: Math.max(0, present.length - 1) * (active.length + 1),
    indices: new Int32Array(design.maxEntries),
    values: new Float64Array(design.maxEntries),
    eta: new Float64Array(Math.max(1, present.length)),
  };
}
