import { importTables } from '../ingest/import-tables.ts';
import { text } from './arguments.ts';
import { type Command, jsonOption, storeOptions } from './command.ts';
import { withCreatedStore } from './new-store.ts';
import { givenMemory } from './open-store.ts';

export const importCommand: Command = {
  name: 'import',
  summary: 'Reads tables that "turnwise export" wrote back into a store.',
  positionals: '<folder | files…>',
  options: { ...storeOptions, json: jsonOption },
  examples: [
    'turnwise import runs-parquet --store copy.duckdb',
    'turnwise import sources.arrow episodes.arrow turns.arrow --store copy.duckdb',
  ],
  notes: [
    'Parquet and Arrow, told by their columns. All is read in one transaction, or nothing; a table that already',
    'holds rows is not added to. Logs, one record an episode, are read by "turnwise ingest".',
  ],
  undone: true,
  async run(values, positionals, io) {
    const { result } = await withCreatedStore(
      text(values, 'store')!,
      givenMemory(values),
      io,
      async (store, keep) => {
        const result = await importTables(store, positionals, (path) => io.progress(`reading ${path}`));
        keep();
        return result;
      },
    );
    if (values.json === true) io.out(`${JSON.stringify(result, null, 2)}\n`);
    else for (const { table, path, rows } of result.tables) io.out(`${path}  ${table}, ${rows} rows\n`);
    return 0;
  },
};
