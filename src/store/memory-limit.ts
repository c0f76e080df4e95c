import { totalmem } from 'node:os';
import type { DuckDBConnection } from 'duckdb';
import { failure } from '../schema/error.ts';
import { TABLES, type TableName } from './tables.ts';

/** What the engine of a store may hold before it spills beside the store. */
export interface MemoryLimit {
  /** In force, in bytes. */
  bytes: number;
  /** Given by the user: it is kept. Otherwise it starts small and grows where a query needs more. */
  readonly fixed: boolean;
  /** Bytes of text that one row may hold, as known when the store was opened; 0: unknown, or nothing yet. */
  rowBytes: number;
}

/** Where it starts. The engine keeps what it has read as long as the limit allows, so a large one is filled for nothing. */
const START = '512MB';
/** Share of the machine's memory that it may grow to; the rest is for Node, the columns and everybody else. */
const SHARE = 0.75;
const GROWTH = 4;
/** Rows of a table that the engine takes at once. */
export const ENGINE_ROWS = 2048;

/** The most that the engine may hold on this machine, or in this container, where nobody says otherwise. */
export function memoryThere(): number {
  if (there === undefined) {
    const allowed = process.constrainedMemory?.() ?? 0;
    there = SHARE * (allowed > 0 ? Math.min(allowed, totalmem()) : totalmem());
  }
  return there;
}

/** Asked once: the answer is read from files, and appends ask for every batch. */
let there: number | undefined;

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** More than any machine has, and the engine's own number of bytes does not hold much more. */
const MOST = 2 ** 50;
/** The least that a store can be opened with. */
const LEAST = 32e6;

/**
 * Bytes of a size as it is written, "4GB" or "500 MiB".
 * @throws a usage failure for anything else, and below 32 MB
 */
export function memorySize(text: string, subject = 'memoryLimit'): number {
  const [, size, unit] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?b)\s*$/i.exec(text) ?? [];
  const bytes = size === undefined ? Number.NaN : Number(size) * UNITS[unit!.toLowerCase()]!;
  if (Number.isFinite(bytes) && bytes >= LEAST) return Math.min(Math.floor(bytes), MOST);
  throw failure({
    subject,
    wrong: Number.isNaN(bytes) ? 'is not a size' : 'is too little to work with',
    got: `"${text}"`,
    expected: 'a number and a unit, of at least 32MB; for instance 4GB',
    exitCode: 2,
  });
}

/** A size as the engine takes it and people read it. */
export const sizeText = (bytes: number): string => `${Math.floor(bytes / 1e6)}MB`;

export function startLimit(given: string | undefined, start = START): MemoryLimit {
  return given === undefined
    ? { bytes: Math.min(memorySize(start), memoryThere()), fixed: false, rowBytes: 0 }
    : { bytes: memorySize(given), fixed: true, rowBytes: 0 };
}

/**
 * Raises a limit to what is needed, as far as there is memory; a limit that the user gave stays.
 * @returns whether it is higher now
 */
export async function raiseLimit(
  { connection, memory }: { readonly connection: DuckDBConnection; readonly memory: MemoryLimit },
  needed: number,
): Promise<boolean> {
  const bytes = Math.floor(Math.min(needed, memoryThere()));
  if (memory.fixed || bytes <= memory.bytes) return false;
  await connection.run(`SET memory_limit = '${sizeText(bytes)}'`);
  memory.bytes = bytes;
  return true;
}

/** After a query ran out of memory: whether there is more, so that it is worth another try. */
export const growLimit = (store: {
  readonly connection: DuckDBConnection;
  readonly memory: MemoryLimit;
}): Promise<boolean> => raiseLimit(store, GROWTH * store.memory.bytes);

/** What the engine needs beside the rows that it takes at once. */
const BASE = 128e6;
/** What all threads together may hold of those rows, before there are fewer threads. */
const ROWS_AT_ONCE = 512e6;

/**
 * Makes room for the longest texts of a store before it is read: the engine holds 2,048 rows of every column a thread.
 * Fewer threads where those are large, and a higher limit where one thread needs it.
 */
export async function fitTexts(
  store: { readonly connection: DuckDBConnection; readonly memory: MemoryLimit },
  threads: number,
): Promise<void> {
  store.memory.rowBytes = await longestRow(store.connection);
  const bytes = ENGINE_ROWS * store.memory.rowBytes;
  const fitting = Math.max(1, Math.min(threads, Math.floor(ROWS_AT_ONCE / bytes)));
  if (fitting < threads) await store.connection.run(`SET threads = ${fitting}`);
  await raiseLimit(store, BASE + (1 + fitting) * bytes);
}

/** Bytes of a row of the widest table with the longest text in every column, off the engine's statistics: an upper bound. */
async function longestRow(connection: DuckDBConnection): Promise<number> {
  let most = 0;
  for (const table of ['episodes', 'turns'] satisfies TableName[]) {
    const texts = TABLES[table].filter((c) => c.type === 'VARCHAR' || c.type === 'JSON');
    const sql = `SELECT ${texts.map((c) => `stats(${c.name})`).join(', ')} FROM ${table} LIMIT 1`;
    const [row] = await (await connection.run(sql)).getRows();
    if (!row) continue;
    const longest = row.map((stats) => Number(/Max String Length: (\d+)/.exec(String(stats))?.[1] ?? 0));
    most = Math.max(
      most,
      longest.reduce((sum, n) => sum + n, 0),
    );
  }
  return most;
}
