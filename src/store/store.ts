import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from 'duckdb';
import { failure } from '../schema/error.ts';
import { createTables } from './create-tables.ts';
import { engineFailure } from './engine-failure.ts';
import { migrate, migrationPath } from './migrate.ts';
import { notAStore } from './not-a-store.ts';

export interface StoreOptions {
  /** 'create' makes the file where there is none; 'write' and 'read' need a store. */
  readonly mode: 'create' | 'write' | 'read';
  /** What the engine may hold before it spills beside the store; default 512MB. */
  readonly memoryLimit?: string | undefined;
  /** Default: as many as there are cores. */
  readonly threads?: number | undefined;
}

/** An open store: owns the engine and one connection to it. */
export class Store {
  readonly path: string;
  readonly mode: StoreOptions['mode'];
  readonly connection: DuckDBConnection;
  /** What `connection` is in the middle of. */
  state: 'idle' | 'transaction' | 'transaction scan' | 'closed' = 'idle';
  private readonly instance: DuckDBInstance;

  constructor(
    path: string,
    mode: StoreOptions['mode'],
    instance: DuckDBInstance,
    connection: DuckDBConnection,
  ) {
    this.path = path;
    this.mode = mode;
    this.instance = instance;
    this.connection = connection;
  }

  /** A second connection, for a scan that other queries must not cut short. */
  connect(): Promise<DuckDBConnection> {
    return this.instance.connect();
  }

  /** A scan inside a transaction has the connection to itself: another query would cut it short unnoticed. */
  assertIdle(what: string): void {
    if (this.state === 'closed') throw new Error(`${what}: ${this.path} is closed`);
    if (this.state === 'transaction scan')
      throw new Error(`${what}: a scan is under way in the transaction; finish it first`);
  }

  /** Releases the lock on the file at once; the engine checkpoints as its last connection goes. */
  close(): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.connection.closeSync();
    this.instance.closeSync();
  }
}

/**
 * Opens a store, one DuckDB file, or an empty one in memory (':memory:' with mode 'create').
 * @throws a failure naming the file: missing, a directory, no store, another version, in use, no permission
 */
export async function openStore(path: string, options: StoreOptions): Promise<Store> {
  const { mode } = options;
  const isNew = checkPath(path, mode);
  const config: Record<string, string> = {
    access_mode: mode === 'read' ? 'READ_ONLY' : 'READ_WRITE',
    memory_limit: options.memoryLimit ?? '512MB',
    threads: String(options.threads ?? availableParallelism()),
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  };
  if (path !== ':memory:') config.temp_directory = `${resolve(path)}.tmp`;
  let instance: DuckDBInstance | undefined;
  let connection: DuckDBConnection | undefined;
  try {
    // From the cache, so that opening one file twice in a process shares the engine: two of them would
    // each hold the lock, which is the process's, and overwrite each other.
    instance =
      path === ':memory:'
        ? await DuckDBInstance.create(path, config)
        : await DuckDBInstance.fromCache(resolve(path), config);
    connection = await instance.connect();
    if (isNew) await createTables(connection);
    else await checkVersion(path, connection, mode);
    return new Store(path, mode, instance, connection);
  } catch (error) {
    connection?.closeSync();
    instance?.closeSync();
    throw engineFailure(path, error);
  }
}

/** Whether the file is yet to be made. */
function checkPath(path: string, mode: StoreOptions['mode']): boolean {
  if (path === ':memory:') {
    if (mode === 'create') return true;
    throw failure({ subject: path, wrong: `a store in memory cannot be opened to ${mode}` });
  }
  if (path === '') throw failure({ subject: 'store', wrong: 'has an empty name', exitCode: 2 });
  // The engine would keep its write-ahead log under another name: it cuts the path at the mark, as an address is cut.
  if (resolve(path).includes('?'))
    throw failure({
      subject: path,
      wrong: 'a store has no "?" in its path',
      fix: 'Name another.',
      exitCode: 2,
    });
  if (!existsSync(path)) {
    if (mode === 'create') return true;
    throw failure({
      subject: path,
      wrong: 'no such store',
      fix: 'Make it with "turnwise ingest FILES --store STORE".',
    });
  }
  const stat = statSync(path);
  if (stat.isDirectory()) throw failure({ subject: path, wrong: 'is a directory', fix: 'Name a file.' });
  if (stat.size === 0)
    throw failure({
      subject: path,
      wrong: 'is not a store: the file is empty',
      fix: 'Delete it, or name another file.',
    });
  const other = notAStore(path);
  if (other) throw other;
  return false;
}

async function checkVersion(
  path: string,
  connection: DuckDBConnection,
  mode: StoreOptions['mode'],
): Promise<void> {
  const has = await connection.run(
    "SELECT 1 FROM duckdb_columns() WHERE table_name = 'meta' AND column_name IN ('key', 'value')",
  );
  const sql = "SELECT value FROM meta WHERE key = 'turnwise_store_version'";
  const rows = has.rowCount === 2 ? await (await connection.run(sql)).getRows() : [];
  const version = Number(rows[0]?.[0]);
  if (!Number.isSafeInteger(version))
    throw failure({
      subject: path,
      wrong: 'is a DuckDB file, but not a Turnwise store',
      fix: 'Make one with "turnwise ingest FILES --store STORE".',
    });
  const steps = migrationPath(path, version);
  if (steps.length === 0) return;
  if (mode === 'read')
    throw failure({
      subject: path,
      wrong: 'was written by an older Turnwise and cannot be brought up to date while opened to read',
      fix: 'Open it once to write.',
    });
  await migrate(connection, steps);
}
