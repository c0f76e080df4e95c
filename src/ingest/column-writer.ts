import type { ColumnData } from '../store/batch.ts';

/** Collects the values of one column, row by row; undefined where every value was null. */
export interface ColumnWriter<T> {
  push(value: T | null): void;
  finish(): ColumnData | undefined;
}

export function textWriter(): ColumnWriter<string> {
  const values: (string | null)[] = [];
  let some = false;
  return {
    push(value) {
      values.push(value);
      if (value !== null) some = true;
    },
    finish: () => (some ? { kind: 'text', values } : undefined),
  };
}

/** DOUBLE ('f64'), INTEGER ('i32'), BIGINT and TIMESTAMP ('i64'). */
export function numberWriter(kind: 'f64' | 'i32' | 'i64'): ColumnWriter<number> {
  const values: number[] = [];
  const nulls: number[] = [];
  return {
    push(value) {
      if (value === null) nulls.push(values.length);
      values.push(value ?? 0);
    },
    finish() {
      if (nulls.length === values.length) return undefined;
      const valid = validity(values.length, nulls);
      return kind === 'i32'
        ? { kind, values: Int32Array.from(values), valid }
        : { kind, values: Float64Array.from(values), valid };
    },
  };
}

export function boolWriter(): ColumnWriter<boolean> {
  const values: number[] = [];
  return {
    push(value) {
      values.push(value === true ? 1 : 0);
    },
    finish: () => ({ kind: 'bool', values: Uint8Array.from(values) }),
  };
}

/** What a list may be given as: NaN or null is a null element. */
export type ListInput = Float64Array | readonly (number | boolean | null)[];

/** Lists of 'f64', 'f32', 'i32' or 'bool' in one growing typed array; O(elements) in all. */
export function listWriter(kind: 'f64' | 'f32' | 'i32' | 'bool'): ColumnWriter<ListInput> {
  let values = newArray(kind, 1024);
  let valid: Uint8Array | undefined;
  let length = 0;
  const offsets: number[] = [0];
  const nulls: number[] = [];
  let rows = 0;

  function grow(need: number): void {
    if (need <= values.length) return;
    const room = Math.max(need, 2 * values.length);
    const wider = newArray(kind, room);
    wider.set(values.subarray(0, length));
    values = wider;
    if (!valid) return;
    const marks = new Uint8Array(room).fill(1);
    marks.set(valid.subarray(0, length));
    valid = marks;
  }

  function setNull(at: number): void {
    valid ??= new Uint8Array(values.length).fill(1);
    valid[at] = 0;
    values[at] = 0;
  }

  return {
    push(list) {
      if (list === null) nulls.push(rows);
      else {
        grow(length + list.length);
        if (list instanceof Float64Array) {
          values.set(list, length);
          for (let i = 0; i < list.length; i++) if (Number.isNaN(list[i])) setNull(length + i);
        } else
          for (let i = 0; i < list.length; i++) {
            if (list[i] === null) setNull(length + i);
            else values[length + i] = Number(list[i]);
          }
        length += list.length;
      }
      offsets.push(length);
      rows++;
    },
    finish() {
      if (nulls.length === rows) return undefined;
      const child = {
        kind,
        values: values.subarray(0, length),
        valid: valid?.subarray(0, length),
      } as ColumnData;
      return { kind: 'list', offsets: Int32Array.from(offsets), child, valid: validity(rows, nulls) };
    },
  };
}

function newArray(kind: 'f64' | 'f32' | 'i32' | 'bool', n: number) {
  if (kind === 'f64') return new Float64Array(n);
  if (kind === 'f32') return new Float32Array(n);
  return kind === 'i32' ? new Int32Array(n) : new Uint8Array(n);
}

function validity(rows: number, nulls: readonly number[]): Uint8Array | undefined {
  if (nulls.length === 0) return undefined;
  const valid = new Uint8Array(rows).fill(1);
  for (const i of nulls) valid[i] = 0;
  return valid;
}
