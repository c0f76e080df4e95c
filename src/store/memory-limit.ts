import { totalmem } from 'node:os';
import type { Store } from './store.ts';

/**
 * Lets the engine of an open store hold more before it spills, up to three quarters of the machine. Its
 * commit and its scans handle 2,048 rows of a table at once, so the limit must fit those: with segments of
 * 100,000 tokens they are two gigabytes.
 * @param bytes the limit, in bytes
 */
export async function setMemoryLimit(store: Store, bytes: number): Promise<void> {
  const megabytes = Math.ceil(Math.min(bytes, 0.75 * totalmem()) / 1e6);
  await store.connection.run(`SET memory_limit = '${megabytes}MB'`);
}
