import type { Batch, ColumnData } from '../store/batch.ts';

/** The named rows of a batch, in the order given. O(rows + list values). */
export function selectRows(batch: Batch, rows: Int32Array): Batch {
  const columns = Object.entries(batch.columns).map(([name, data]) => [name, select(data, rows)] as const);
  return { table: batch.table, rows: rows.length, columns: Object.fromEntries(columns) };
}

function select(data: ColumnData, rows: Int32Array): ColumnData {
  if (data.kind === 'text') return { kind: 'text', values: Array.from(rows, (i) => data.values[i] ?? null) };
  const valid = data.valid && pick(data.valid, rows);
  if (data.kind !== 'list') return { ...data, values: pick(data.values, rows), valid } as ColumnData;
  const offsets = new Int32Array(rows.length + 1);
  for (let k = 0; k < rows.length; k++)
    offsets[k + 1] = offsets[k]! + data.offsets[rows[k]! + 1]! - data.offsets[rows[k]!]!;
  const elements = new Int32Array(offsets[rows.length]!);
  for (let k = 0, at = 0; k < rows.length; k++)
    for (let i = data.offsets[rows[k]!]!; i < data.offsets[rows[k]! + 1]!; i++) elements[at++] = i;
  return { kind: 'list', offsets, child: select(data.child, elements), valid };
}

function pick<T extends Float64Array | Float32Array | Int32Array | Uint8Array>(
  values: T,
  rows: Int32Array,
): T {
  const out = new (values.constructor as new (n: number) => T)(rows.length);
  for (let k = 0; k < rows.length; k++) out[k] = values[rows[k]!]!;
  return out;
}
