import {
  type DuckDBArrayType,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from 'duckdb';
import { engineFailure } from './engine-failure.ts';
import { parquetSql } from './parquet.ts';
import type { Store } from './store.ts';

/** What the values of a column of a Parquet file are, as far as reading them as JSON asks. */
export type ParquetType =
  | { readonly kind: 'struct'; readonly fields: readonly (readonly [name: string, type: ParquetType])[] }
  | { readonly kind: 'map' | 'list'; readonly values: ParquetType }
  /** `other` has no counterpart in JSON; `name` is the engine's. */
  | { readonly kind: 'time' | 'date' | 'whole' | 'decimal' | 'plain' | 'other'; readonly name: string };

/** The columns of a Parquet file, in order. @throws a failure where it cannot be read */
export async function parquetTypes(
  store: Store,
  path: string,
): Promise<readonly (readonly [name: string, type: ParquetType])[]> {
  store.assertIdle('parquetTypes');
  try {
    const result = await store.connection.run(`SELECT * FROM ${parquetSql(path)} LIMIT 0`);
    const types = result.columnTypes();
    return result.columnNames().map((name, k) => [name, typeOf(types[k]!)] as const);
  } catch (error) {
    throw engineFailure(store.path, error);
  }
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
