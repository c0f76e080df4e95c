import { failure } from '../schema/error.ts';
import type { ParquetType } from '../store/parquet-types.ts';
import { beyondYears } from './table-values.ts';

/** A value as the engine's to_json spells it → as JSON has it (see table-values.ts); undefined: null, in a struct. */
export type ValueConverter = (value: unknown) => unknown;

/**
 * How the values of a column are brought from the engine's spelling to the one rule of tables. A null in a struct or a
 * map is absent; in a list it keeps its place. JSON text inside stands as it was written. Undefined: nothing to do.
 * @throws a failure naming the column where its type is no text, number, time, list or struct
 */
export function valueConverter(type: ParquetType, path: string): ValueConverter | undefined {
  switch (type.kind) {
    case 'struct': {
      const fields = new Map(
        type.fields.map(([name, t]) => [name, valueConverter(t, `${path}.${name}`) ?? same]),
      );
      return ifThere((value) => present(value as object, (key) => fields.get(key)!));
    }
    case 'map': {
      const inner = valueConverter(type.values, path) ?? same;
      return ifThere((value) => present(value as object, () => inner));
    }
    case 'list': {
      const inner = valueConverter(type.values, `${path}[]`);
      return inner && ifThere((value) => (value as unknown[]).map((v) => (v === null ? null : inner(v))));
    }
    case 'time':
      return ifThere((value) => isoTime(String(value), path));
    case 'date':
      return ifThere((value) => (/^\d{4}-\d\d-\d\d$/.test(String(value)) ? value : beyondYears(path)));
    case 'other':
      throw failure({
        subject: `column ${path}`,
        wrong: `is of Parquet type ${type.name}, which is no text, number, time, list or struct`,
        fix: 'Leave it out, or write it as one of these.',
      });
    default:
      return undefined;
  }
}

/** As the engine writes it, in the zone UTC: "2024-01-01 10:00:00.5+00". */
function isoTime(text: string, path: string): string {
  const [, date, clock, zone] = /^(\d{4}-\d\d-\d\d) ([\d:.]+)(\+00)?$/.exec(text) ?? beyondYears(path);
  return `${date}T${clock!.replace(/\.?0+$/, trimmed)}${zone ? 'Z' : ''}`;
}

/** Zeros at the end are dropped behind a point only. */
function trimmed(zeros: string, at: number, clock: string): string {
  return clock.slice(0, at + 1).includes('.') ? '' : zeros;
}

function ifThere(convert: ValueConverter): ValueConverter {
  return (value) => (value === null || value === undefined ? value : convert(value));
}

function present(value: object, converter: (key: string) => ValueConverter): Record<string, unknown> {
  const there = Object.entries(value).filter(([, v]) => v !== null);
  return Object.fromEntries(there.map(([key, v]) => [key, converter(key)(v)]));
}

function same(value: unknown): unknown {
  return value;
}
