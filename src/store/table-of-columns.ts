import { TABLES, type TableName } from './tables.ts';

/**
 * The table of the store whose rows a file with these columns holds: all it requires are there, and none
 * that it does not know; version 1 knew no pieces. undefined: none; a log of episodes with its turns inside is none.
 */
export function tableOfColumns(names: readonly string[]): TableName | undefined {
  const given = new Set(names);
  return (Object.keys(TABLES) as TableName[]).find((table) => {
    const columns = TABLES[table];
    const known = new Set(columns.map((c) => c.name));
    return (
      columns.every((c) => !c.required || given.has(c.name) || c.name === 'piece') &&
      names.every((name) => known.has(name))
    );
  });
}
