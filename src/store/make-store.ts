import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DuckDBInstance } from 'duckdb';
import { failure } from '../schema/error.ts';
import { createTables } from './create-tables.ts';
import { placeOf } from './place.ts';
import { besides, flush, placed, withScratch } from './whole-file.ts';

/** Its log of changes names the store it belongs to from this version on: that of another store is refused. */
const FILE_FORMAT = 'v1.4.0';

/** Where the engine spills: named at random, so that it is no folder of the user's; one name, or the engine would not share a file. */
const SPILL = randomBytes(6).toString('hex');
export const spillFolder = (file: string): string => join(dirname(file), `.${basename(file)}.spill-${SPILL}`);

/**
 * Makes an empty store, whole or not at all: written beside its place, it gets its name in one step.
 * @returns whether this call made it; false: something got the name meanwhile, and stands
 */
export async function makeStore(given: string): Promise<boolean> {
  const path = placeOf(given);
  if (lstatSync(`${path}.wal`, { throwIfNoEntry: false }))
    throw failure({
      subject: `${path}.wal`,
      wrong: 'is there without its store, and would be taken for the log of the new one',
      fix: 'Move it away, or name another store.',
    });
  return withScratch(besides(path), async (scratch) => {
    const part = join(scratch, 'store.duckdb');
    await create(part);
    flush(part);
    return placed(part, path);
  });
}

async function create(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(path, {
    storage_compatibility_version: FILE_FORMAT,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    threads: '1',
  });
  try {
    const connection = await instance.connect();
    try {
      await createTables(connection);
      await connection.run('CHECKPOINT');
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}
