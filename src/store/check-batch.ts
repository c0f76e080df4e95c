import { failure } from '../schema/error.ts';
import type { Batch, ColumnData } from './batch.ts';
import { type Column, type ColumnType, TABLES } from './tables.ts';

/** The kind of data each column type takes; a list takes 'list' over the kind of its child. */
const KINDS: Readonly<Record<ColumnType, ColumnData['kind']>> = {
  VARCHAR: 'text',
  JSON: 'text',
  DOUBLE: 'f64',
  INTEGER: 'i32',
  BIGINT: 'i64',
  TIMESTAMP: 'i64',
  BOOLEAN: 'bool',
  'DOUBLE[]': 'list',
  'FLOAT[]': 'list',
  'INTEGER[]': 'list',
  'BOOLEAN[]': 'list',
};
const CHILD_KINDS: Readonly<Record<string, ColumnData['kind']>> = {
  'DOUBLE[]': 'f64',
  'FLOAT[]': 'f32',
  'INTEGER[]': 'i32',
  'BOOLEAN[]': 'bool',
};

/**
 * Refuses a batch that does not fit its table, before anything is written: an unknown or missing column, a
 * wrong kind, too few values, offsets that do not ascend, a null in a required column, an integer beyond 2^53.
 * O(rows + list offsets).
 */
export function checkBatch(batch: Batch): void {
  const columns = TABLES[batch.table];
  if (!columns)
    throw failure({
      subject: batch.table,
      wrong: 'no such table',
      expected: Object.keys(TABLES).join(', '),
    });
  for (const name of Object.keys(batch.columns))
    if (!columns.some((c) => c.name === name))
      throw failure({
        subject: `${batch.table}.${name}`,
        wrong: 'no such column',
        expected: columns.map((c) => c.name).join(', '),
      });
  for (const column of columns) checkColumn(batch, column);
}

function checkColumn(batch: Batch, column: Column): void {
  const subject = `${batch.table}.${column.name}`;
  const data = batch.columns[column.name];
  if (!data) {
    if (column.required && batch.rows > 0)
      throw failure({ subject, wrong: 'is missing', expected: column.type });
    return;
  }
  expectKind(subject, column.type, data.kind, KINDS[column.type]);
  checkLength(subject, data, batch.rows);
  if (data.kind === 'i64') checkIntegers(subject, data, batch.rows);
  if (data.kind === 'list') {
    expectKind(subject, column.type, data.child.kind, CHILD_KINDS[column.type]!);
    for (let i = 0; i < batch.rows; i++)
      if (!(data.offsets[i]! <= data.offsets[i + 1]!))
        throw failure({ subject, wrong: `offsets do not ascend at row ${i}` });
    if (batch.rows > 0 && data.offsets[0]! < 0) throw failure({ subject, wrong: 'offsets start below 0' });
    checkLength(`${subject} (values)`, data.child, batch.rows === 0 ? 0 : data.offsets[batch.rows]!);
  }
  if (!column.required) return;
  const at = firstNull(data, batch.rows);
  if (at >= 0) throw failure({ subject, wrong: `is null at row ${at} of the batch`, expected: column.type });
}

function expectKind(subject: string, type: ColumnType, got: string, expected: string): void {
  if (got !== expected) throw failure({ subject, wrong: `${type} column of the wrong kind`, got, expected });
}

function checkLength(subject: string, data: ColumnData, rows: number): void {
  const length = data.kind === 'list' ? data.offsets.length - 1 : data.values.length;
  if (length < rows)
    throw failure({ subject, wrong: 'holds too few values', got: length, expected: `${rows}` });
  if (data.kind !== 'text' && data.valid && data.valid.length < rows)
    throw failure({ subject, wrong: '"valid" is too short', got: data.valid.length, expected: `${rows}` });
}

function checkIntegers(subject: string, data: Extract<ColumnData, { kind: 'i64' }>, rows: number): void {
  for (let i = 0; i < rows; i++)
    if (!Number.isSafeInteger(data.values[i]) && !(data.valid && data.valid[i] === 0))
      throw failure({
        subject,
        wrong: `is not a whole number below 2^53 at row ${i} of the batch`,
        got: data.values[i],
      });
}

function firstNull(data: ColumnData, rows: number): number {
  if (data.kind === 'text') {
    for (let i = 0; i < rows; i++) if (data.values[i] == null) return i;
    return -1;
  }
  return data.valid ? data.valid.subarray(0, rows).indexOf(0) : -1;
}
