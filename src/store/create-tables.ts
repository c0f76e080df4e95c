import type { DuckDBConnection } from 'duckdb';
import { STORE_VERSION, TABLES, type TableName } from './tables.ts';

/** The SQL that makes one table. */
export function tableSql(table: TableName): string {
  const columns = TABLES[table].map((c) => `${quoted(c.name)} ${c.type}${c.required ? ' NOT NULL' : ''}`);
  return `CREATE TABLE ${quoted(table)} (${columns.join(', ')})`;
}

/** Makes every table and says in `meta` which version of the store it is, all or nothing. */
export async function createTables(connection: DuckDBConnection): Promise<void> {
  await connection.run('BEGIN');
  try {
    for (const table of Object.keys(TABLES) as TableName[]) await connection.run(tableSql(table));
    await connection.run('CREATE TABLE meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)');
    await connection.run(`INSERT INTO meta VALUES ('turnwise_store_version', '${STORE_VERSION}')`);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK');
    throw error;
  }
}

/** A name as SQL spells it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Text as SQL spells it. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
