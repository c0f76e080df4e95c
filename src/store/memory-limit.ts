import { totalmem } from 'node:os';
import { queryRows } from './query.ts';
import type { Store } from './store.ts';

const UNITS: Readonly<Record<string, number>> = {
  bytes: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** What the engine of a store may hold before it spills, in bytes. */
export async function memoryLimit(store: Store): Promise<number> {
  const [row] = await queryRows(store, "SELECT current_setting('memory_limit') AS size");
  const [, size, unit] = /^([\d.]+) (\w+)$/.exec(String(row!.size))!;
  return Number(size) * UNITS[unit!]!;
}

/**
 * Sets that limit, up to three quarters of the machine. A commit and a scan handle 2,048 rows of a table at
 * once, and the limit must fit those: with segments of 100,000 tokens they are two gigabytes.
 */
export async function setMemoryLimit(store: Store, bytes: number): Promise<void> {
  const megabytes = Math.ceil(Math.min(bytes, 0.75 * totalmem()) / 1e6);
  await store.connection.run(`SET memory_limit = '${megabytes}MB'`);
}
