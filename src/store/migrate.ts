import type { DuckDBConnection } from 'duckdb';
import { failure } from '../schema/error.ts';
import { tableSql } from './create-tables.ts';
import { cutSql } from './pieces.ts';
import { STORE_VERSION, TABLES } from './tables.ts';

/** SQL that takes a store from the version it is listed under to the next. */
export type MigrationSteps = Readonly<Record<number, readonly string[]>>;

/** 2 keeps token sequences in pieces; 3 says where turn values come from, which those of version 2 do not know. */
export const MIGRATIONS: MigrationSteps = {
  1: (['segments', 'scores'] as const).flatMap(cutTable),
  2: [
    'ALTER TABLE turn_values ADD COLUMN advantage_se DOUBLE',
    'ALTER TABLE turn_values ADD COLUMN mark VARCHAR',
    tableSql('critics'),
  ],
};

/** Cuts the sequences of a table, whose rows keep their order. */
function cutTable(table: 'segments' | 'scores'): string[] {
  const columns = TABLES[table].map((c) => c.name).filter((name) => name !== 'piece');
  return [
    `ALTER TABLE ${table} RENAME TO ${table}_1`,
    tableSql(table),
    `INSERT INTO ${table} (${columns.join(', ')}, piece) ${cutSql(table, `${table}_1`, columns)}`,
    `DROP TABLE ${table}_1`,
  ];
}

/** What takes `version` to `target`, or why it cannot be done. */
export function migrationPath(
  path: string,
  version: number,
  steps: MigrationSteps = MIGRATIONS,
  target: number = STORE_VERSION,
): readonly string[] {
  if (version > target)
    throw failure({
      subject: path,
      wrong: 'was written by a newer Turnwise',
      got: `store version ${version}`,
      expected: `at most ${target}`,
      fix: 'Update Turnwise.',
    });
  const sql: string[] = [];
  for (let v = version; v < target; v++) {
    const step = steps[v];
    if (!step)
      throw failure({
        subject: path,
        wrong: 'was written by an older Turnwise, and no migration is known',
        got: `store version ${version}`,
        expected: `${target}`,
        fix: 'Ingest the logs again.',
      });
    sql.push(...step);
  }
  return sql;
}

/** Brings an open store to the version of this program, in one transaction. */
export async function migrate(
  connection: DuckDBConnection,
  sql: readonly string[],
  target: number = STORE_VERSION,
): Promise<void> {
  await connection.run('BEGIN');
  try {
    for (const statement of sql) await connection.run(statement);
    await connection.run(`UPDATE meta SET value = '${target}' WHERE key = 'turnwise_store_version'`);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK');
    throw error;
  }
}
