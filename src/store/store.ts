import { randomBytes } from 'node:crypto';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from 'duckdb';
import { failure } from '../schema/error.ts';
import { createTables, quoted } from './create-tables.ts';
import { engineFailure, isInUse } from './engine-failure.ts';
import { makeStore, spillFolder } from './make-store.ts';
import { fitTexts, type MemoryLimit, sizeText, startLimit } from './memory-limit.ts';
import { migrate, migrationPath } from './migrate.ts';
import { isStill, type StoreFile, storeFile } from './store-file.ts';
import { type OpenOptions, type StoreOptions, storeOptions } from './store-options.ts';
import { TABLES } from './tables.ts';

/** An open store: owns the engine and one connection to it. */
export class Store {
  readonly path: string;
  /** Where it lies; null in memory. */
  readonly file: StoreFile | null;
  readonly mode: OpenOptions['mode'];
  /** Whether opening it made it, and all that it holds by now came through here. */
  readonly made: boolean;
  readonly connection: DuckDBConnection;
  readonly memory: MemoryLimit;
  /** What `connection` is in the middle of. */
  state: 'idle' | 'transaction' | 'transaction scan' | 'closed' = 'idle';
  private readonly instance: DuckDBInstance;

  constructor(
    path: string,
    file: StoreFile | null,
    mode: OpenOptions['mode'],
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    made: boolean,
    memory: MemoryLimit,
  ) {
    this.memory = memory;
    this.path = path;
    this.file = file;
    this.mode = mode;
    this.made = made;
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
 * Opens a store, one DuckDB file, or an empty one in memory (':memory:' with mode 'create'). A store that is made comes
 * to be whole or not at all.
 * @throws a failure naming the file: missing, no file, no store, damaged, another version, in use, no permission
 */
export async function openStore(path: string, given: StoreOptions = {}): Promise<Store> {
  const options = storeOptions(path, given);
  if (path === ':memory:') return openInMemory(path, options);
  const until = performance.now() + 1000 * (options.waitSeconds ?? 0);
  let made = false;
  for (let waits = false; ; ) {
    try {
      let file = storeFile(path);
      if (!file && options.mode === 'create') {
        made ||= await makeStore(path);
        file = storeFile(path);
      }
      const store = file ? await openFile(path, file, options, made) : undefined;
      if (store) return store;
      // Another process that made it has taken it away again.
      if (options.mode !== 'create')
        throw failure({
          subject: path,
          wrong: 'no such store',
          fix: 'Make it with "turnwise ingest FILES --store STORE".',
        });
    } catch (error) {
      if (!isInUse(error) || performance.now() >= until) throw engineFailure(path, error);
      if (!waits) options.onWait?.();
      waits = true;
      await sleep(20 + 60 * Math.random());
    }
  }
}

async function openInMemory(path: string, options: OpenOptions): Promise<Store> {
  if (options.mode !== 'create')
    throw failure({ subject: path, wrong: `a store in memory cannot be opened to ${options.mode}` });
  const memory = startLimit(options.memoryLimit, options.startLimit);
  // Its own default is a folder ".tmp" where the program was started.
  const spill = join(tmpdir(), `turnwise-spill-${randomBytes(6).toString('hex')}`);
  const config = { ...configOf(options, memory), temp_directory: spill };
  const instance = await DuckDBInstance.create(path, config);
  const connection = await instance.connect();
  await createTables(connection);
  return new Store(path, null, options.mode, instance, connection, false, memory);
}

/** undefined: the name does not stand for the file any more, and what would be written to it would be lost. */
async function openFile(
  path: string,
  file: StoreFile,
  options: OpenOptions,
  made: boolean,
): Promise<Store | undefined> {
  const memory = startLimit(options.memoryLimit, options.startLimit);
  const config: Record<string, string> = {
    ...configOf(options, memory),
    temp_directory: spillFolder(file.path),
  };
  let instance: DuckDBInstance | undefined;
  let connection: DuckDBConnection | undefined;
  const close = () => {
    connection?.closeSync();
    instance?.closeSync();
  };
  try {
    // From the cache, so that opening one file twice in a process shares the engine: two of them would
    // each hold the lock, which is the process's, and overwrite each other.
    instance = await DuckDBInstance.fromCache(file.path, config);
    connection = await instance.connect();
    if (!isStill(file)) {
      close();
      return undefined;
    }
    if (options.mode === 'create' && (await isBlank(connection))) await createTables(connection);
    else await checkVersion(path, connection, options.mode);
    // Between making and locking it, another process may have written to it.
    await fitTexts({ connection, memory }, Number(config.threads!));
    const empty = made && (await isEmpty(connection));
    return new Store(path, file, options.mode, instance, connection, empty, memory);
  } catch (error) {
    close();
    throw engineFailure(path, error);
  }
}

function configOf(options: OpenOptions, memory: MemoryLimit): Record<string, string> {
  return {
    access_mode: options.mode === 'read' ? 'READ_ONLY' : 'READ_WRITE',
    memory_limit: sizeText(memory.bytes),
    threads: String(options.threads ?? availableParallelism()),
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  };
}

/** Nothing at all was ever made in it: what an older Turnwise left that was killed as it began. */
async function isBlank(connection: DuckDBConnection): Promise<boolean> {
  const result = await connection.run(
    `SELECT 1 FROM (SELECT internal FROM duckdb_tables() UNION ALL SELECT internal FROM duckdb_views()
       UNION ALL SELECT internal FROM duckdb_schemas() UNION ALL SELECT internal FROM duckdb_types()
       UNION ALL SELECT internal FROM duckdb_functions() UNION ALL SELECT false FROM duckdb_sequences())
     WHERE NOT internal LIMIT 1`,
  );
  return result.rowCount === 0;
}

async function isEmpty(connection: DuckDBConnection): Promise<boolean> {
  const tables = Object.keys(TABLES).map((name) => `(SELECT 1 FROM ${quoted(name)} LIMIT 1)`);
  return (await connection.run(tables.join(' UNION ALL '))).rowCount === 0;
}

async function checkVersion(
  path: string,
  connection: DuckDBConnection,
  mode: OpenOptions['mode'],
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
      fix: 'Open it once to write: "turnwise ingest" of a log that it holds does so and adds nothing.',
    });
  await migrate(connection, steps);
}
