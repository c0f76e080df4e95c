import type { Coded } from './trajectories.ts';

/** A text column while it is being filled: codes count distinct values in order of first appearance. */
export interface Coder extends Coded {
  readonly values: string[];
  readonly seen: Map<string, number>;
}

/** An all-null column of n rows. */
export function coder(n: number): Coder {
  return { codes: new Int32Array(n).fill(-1), values: [], seen: new Map() };
}

/** Writes one row; null leaves −1. */
export function setCode(column: Coder, row: number, text: string | null): void {
  if (text !== null) column.codes[row] = internText(column, text);
}

/** The finished column, without the map behind it. */
export function coded(column: Coder): Coded {
  return { codes: column.codes, values: column.values };
}

/** Code of a text, new if it was not seen before. */
export function internText(column: Pick<Coder, 'values' | 'seen'>, text: string): number {
  let code = column.seen.get(text);
  if (code === undefined) {
    code = column.values.length;
    column.values.push(text);
    column.seen.set(text, code);
  }
  return code;
}
