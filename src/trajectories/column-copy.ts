import { failure } from '../schema/error.ts';
import type { ColumnData } from '../store/batch.ts';
import { type Coder, setCode } from './coder.ts';

type Columns = Readonly<Record<string, ColumnData>>;
type NumberColumn = Exclude<ColumnData, { kind: 'text' | 'list' }>;
type ListColumn = Extract<ColumnData, { kind: 'list' }>;

export function numbersOf(columns: Columns, name: string): NumberColumn {
  const column = columns[name];
  if (column === undefined || column.kind === 'text' || column.kind === 'list')
    throw wrongKind(name, 'numbers');
  return column;
}

export function textOf(columns: Columns, name: string): readonly (string | null)[] {
  const column = columns[name];
  if (column?.kind !== 'text') throw wrongKind(name, 'text');
  return column.values;
}

export function listOf(columns: Columns, name: string): ListColumn {
  const column = columns[name];
  if (column?.kind !== 'list') throw wrongKind(name, 'lists');
  return column;
}

/** Rows from..to of a chunk to `target` from row `at` on; nulls become NaN or −1. */
export function copyNumbers(
  target: Float64Array | Int32Array | Uint8Array | Float32Array,
  at: number,
  column: NumberColumn,
  from: number,
  to: number,
  empty: number,
): void {
  target.set(column.values.subarray(from, to), at);
  const { valid } = column;
  if (valid === undefined) return;
  for (let i = from; i < to; i++) if (valid[i] === 0) target[at + i - from] = empty;
}

export function copyText(
  target: Coder,
  at: number,
  values: readonly (string | null)[],
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) setCode(target, at + i - from, values[i]!);
}

const wrongKind = (name: string, wanted: string) =>
  failure({ subject: `column ${name}`, wrong: `does not hold ${wanted}`, fix: 'Is this a Turnwise store?' });
