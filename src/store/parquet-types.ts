import {
  type DuckDBArrayType,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from 'duckdb';
import { failure, TurnwiseError } from '../schema/error.ts';
import { engineFailure } from './engine-failure.ts';
import { patternOf } from './literal-path.ts';
import { parquetSql } from './parquet.ts';
import type { Store } from './store.ts';

/** What the values of a column of a Parquet file are, as far as reading them as JSON asks. */
export type ParquetType =
  | { readonly kind: 'struct'; readonly fields: readonly (readonly [name: string, type: ParquetType])[] }
  | { readonly kind: 'map' | 'list'; readonly values: ParquetType }
  /** `other` has no counterpart in JSON; `name` is the engine's. */
  | { readonly kind: 'time' | 'date' | 'whole' | 'decimal' | 'plain' | 'other'; readonly name: string };

/**
 * The columns of a Parquet file, in order.
 * @throws a failure where it cannot be read, or the engine would read something else than what is written
 */
export async function parquetTypes(
  store: Store,
  path: string,
): Promise<readonly (readonly [name: string, type: ParquetType])[]> {
  store.assertIdle('parquetTypes');
  try {
    await refuseMisread(store, path);
    const result = await store.connection.run(`SELECT * FROM ${parquetSql(path)} LIMIT 0`);
    const types = result.columnTypes();
    return result.columnNames().map((name, k) => [name, typeOf(types[k]!)] as const);
  } catch (error) {
    if (error instanceof TurnwiseError) throw error;
    throw engineFailure(store.path, error);
  }
}

/** Digits of the engine's longest decimal; of a longer one it makes another number, without a word. */
const MAX_DIGITS = 38;

/**
 * What the engine reads as something else: decimals that are too long for it, and names that differ only in case or are
 * empty, which it replaces by names of its own.
 */
async function refuseMisread(store: Store, path: string): Promise<void> {
  const reader = await store.connection.runAndReadAll(
    `SELECT name, num_children, precision FROM parquet_schema(${patternOf(path)})`,
  );
  const elements = reader.getRows() as [name: string, children: bigint | null, precision: bigint | null][];
  let at = 0;
  /** Elements stand in the order of a walk, each before its children. */
  function walk(column: string): void {
    const [, children, precision] = elements[at++]!;
    if (Number(precision ?? 0) > MAX_DIGITS)
      throw failure({
        subject: `column ${column}`,
        wrong: `is a decimal of ${precision} digits`,
        expected: `at most ${MAX_DIGITS}`,
        fix: 'Write it as text or as a double.',
      });
    const seen = new Map<string, string>();
    for (let k = 0; k < Number(children ?? 0) && at < elements.length; k++) {
      const [name] = elements[at]!;
      const inner = column === '' ? name : `${column}.${name}`;
      const same = seen.get(name.toLowerCase());
      if (name === '' || same !== undefined)
        throw failure({
          subject: `column ${inner === '' ? '""' : inner}`,
          wrong:
            name === ''
              ? 'has no name'
              : same === name
                ? 'is there twice'
                : `is there beside ${same}, and the two differ only in case`,
          fix: 'Rename it, or write the rows as JSON Lines or Arrow.',
        });
      seen.set(name.toLowerCase(), name);
      walk(inner);
    }
  }
  if (elements.length > 0) walk('');
}

const T = DuckDBTypeId;
const KINDS: Readonly<Record<number, 'time' | 'date' | 'whole' | 'decimal' | 'other'>> = {
  [T.TIMESTAMP]: 'time',
  [T.TIMESTAMP_S]: 'time',
  [T.TIMESTAMP_MS]: 'time',
  [T.TIMESTAMP_NS]: 'time',
  [T.TIMESTAMP_TZ]: 'time',
  [T.DATE]: 'date',
  [T.TINYINT]: 'whole',
  [T.SMALLINT]: 'whole',
  [T.INTEGER]: 'whole',
  [T.BIGINT]: 'whole',
  [T.HUGEINT]: 'whole',
  [T.UTINYINT]: 'whole',
  [T.USMALLINT]: 'whole',
  [T.UINTEGER]: 'whole',
  [T.UBIGINT]: 'whole',
  [T.UHUGEINT]: 'whole',
  [T.DECIMAL]: 'decimal',
  [T.BLOB]: 'other',
  [T.BIT]: 'other',
  [T.INTERVAL]: 'other',
  [T.UNION]: 'other',
};

function typeOf(type: DuckDBType): ParquetType {
  switch (type.typeId) {
    case T.STRUCT: {
      const { entryNames, entryTypes } = type as DuckDBStructType;
      return { kind: 'struct', fields: entryNames.map((name, k) => [name, typeOf(entryTypes[k]!)]) };
    }
    case T.MAP:
      return { kind: 'map', values: typeOf((type as DuckDBMapType).valueType) };
    case T.LIST:
    case T.ARRAY:
      return { kind: 'list', values: typeOf((type as DuckDBListType | DuckDBArrayType).valueType) };
    default:
      return { kind: KINDS[type.typeId] ?? 'plain', name: String(type) };
  }
}
