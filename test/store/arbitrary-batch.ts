import { fc } from '@fast-check/vitest';
import type { Batch, ColumnData } from '../../src/store/batch.ts';
import { valueAt } from '../../src/store/query.ts';
import { type Column, TABLES, type TableName } from '../../src/store/tables.ts';

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    'a\0b',
    '123456789012',
    '1234567890123',
    'é',
    '日本語の文字列です。長い',
    '🙂',
    'x'.repeat(300),
  ),
);
const SCALARS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  VARCHAR: text,
  JSON: fc.json(),
  DOUBLE: fc.double(),
  FLOAT: fc.float(),
  INTEGER: fc.integer(),
  BIGINT: fc.maxSafeInteger(),
  TIMESTAMP: fc.maxSafeInteger(),
  BOOLEAN: fc.boolean(),
};

function value(column: Column): fc.Arbitrary<unknown> {
  const element = /^(\w+)\[\]$/.exec(column.type)?.[1];
  const some = element ? fc.array(fc.option(SCALARS[element]!), { maxLength: 6 }) : SCALARS[column.type]!;
  return column.required ? some : fc.option(some);
}

/** Random rows of a table as records. */
export function arbitraryRows(table: TableName, maxLength = 20): fc.Arbitrary<Record<string, unknown>[]> {
  const record = fc.record(Object.fromEntries(TABLES[table].map((c) => [c.name, value(c)])), {
    noNullPrototype: true,
  });
  return fc.array(record as fc.Arbitrary<Record<string, unknown>>, { maxLength });
}

/** Random rows of a random table. */
export const arbitraryTable = fc
  .constantFrom(...TABLE_NAMES)
  .chain((table) => fc.record({ table: fc.constant(table), rows: arbitraryRows(table) }));

/** Records as a batch. */
export function batchOf(table: TableName, rows: readonly Record<string, unknown>[]): Batch {
  return {
    table,
    rows: rows.length,
    columns: Object.fromEntries(
      TABLES[table].map((c) => [
        c.name,
        columnOf(
          c.type,
          rows.map((r) => r[c.name]),
        ),
      ]),
    ),
  };
}

function columnOf(type: string, values: readonly unknown[]): ColumnData {
  const valid = Uint8Array.from(values, (v) => (v == null ? 0 : 1));
  const numbers = values.map((v) => Number(v ?? 0));
  switch (type) {
    case 'VARCHAR':
    case 'JSON':
      return { kind: 'text', values: values as (string | null)[] };
    case 'DOUBLE':
      return { kind: 'f64', values: Float64Array.from(numbers), valid };
    case 'FLOAT':
      return { kind: 'f32', values: Float32Array.from(numbers), valid };
    case 'INTEGER':
      return { kind: 'i32', values: Int32Array.from(numbers), valid };
    case 'BIGINT':
    case 'TIMESTAMP':
      return { kind: 'i64', values: Float64Array.from(numbers), valid };
    case 'BOOLEAN':
      return { kind: 'bool', values: Uint8Array.from(numbers), valid };
    default: {
      const lists = values.map((v) => (v ?? []) as unknown[]);
      const offsets = new Int32Array(values.length + 1);
      for (const [i, list] of lists.entries()) offsets[i + 1] = offsets[i]! + list.length;
      return { kind: 'list', offsets, child: columnOf(type.replace('[]', ''), lists.flat()), valid };
    }
  }
}

/** Columns as records again. */
export function rowsOf(
  columns: Readonly<Record<string, ColumnData>>,
  rows: number,
): Record<string, unknown>[] {
  return Array.from({ length: rows }, (_, i) =>
    Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, valueAt(column, i)])),
  );
}
