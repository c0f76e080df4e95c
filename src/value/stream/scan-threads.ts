import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { sizeText } from '../../store/memory-limit.ts';
import type { Store } from '../../store/store.ts';
import { ask } from '../../threads/ask.ts';
import { workerUrl } from '../../threads/worker-url.ts';
import type { ScanPlan } from '../../weights/stream/plan.ts';
import { firstScan, type Range, secondScan } from './scan.ts';
import type { ScanRows } from './scan-rows.ts';
import type { RatioTerms } from './second-pass.ts';
import { mergeShards, type ShardState } from './shard-state.ts';

/** The two passes, wherever they run. */
export interface Scanners {
  first(episodesAtMost: readonly number[]): Promise<ShardState[]>;
  second(terms: readonly (RatioTerms | null)[]): Promise<void>;
  close(): Promise<void>;
}

/** What a thread is told. */
export type Order =
  | { readonly pass: 'first'; readonly episodesAtMost: readonly number[] }
  | { readonly pass: 'second'; readonly terms: readonly (RatioTerms | null)[] };

export interface ThreadData {
  readonly path: string;
  readonly plan: ScanPlan;
  readonly rows: ScanRows;
  readonly range: Range;
  readonly memoryLimit: string | undefined;
  readonly startLimit: string;
}

/** Below so many episodes a thread costs more than it saves. */
const WORTH_A_THREAD = 50_000;
/** Above so many, memory is what is short: a second thread cost 500 MB at 5 M episodes (1.64 against 1.15 GB). */
const TOO_LARGE_FOR_THREADS = 2_000_000;
/** What the engine of each thread may hold, to start with. */
const MEMORY = '128MB';

/**
 * Threads, each with an engine of its own over a range of the episodes, so that reading is shared too; only
 * where the store is a file opened to read, since nobody may write to it meanwhile. Else this thread.
 */
export async function scanners(
  store: Store,
  plan: ScanPlan,
  rows: ScanRows,
  { threads }: { readonly threads?: number | undefined },
): Promise<Scanners> {
  const E = rows.episode.length;
  const alone = store.mode !== 'read' || store.path === ':memory:';
  const most = E > TOO_LARGE_FOR_THREADS ? 1 : availableParallelism();
  const wanted = threads ?? Math.min(most, Math.floor(E / WORTH_A_THREAD));
  const count = alone ? 1 : Math.max(1, Math.min(wanted, E));
  if (count === 1) {
    const range = { first: 0, end: E };
    return {
      first: (most) => firstScan(store, plan, rows, range, most),
      second: (terms) => secondScan(store, plan, rows, range, terms),
      close: async () => undefined,
    };
  }
  // Of a limit that the user gave each has its share.
  const { fixed, bytes } = store.memory;
  const memoryLimit = fixed ? sizeText(Math.max(64e6, bytes / count)) : undefined;
  const workers = Array.from({ length: count }, (_, k) => {
    const range = { first: Math.floor((E * k) / count), end: Math.floor((E * (k + 1)) / count) };
    const workerData: ThreadData = { path: store.path, plan, rows, range, memoryLimit, startLimit: MEMORY };
    return new Worker(workerUrl(import.meta.url, 'scan-worker'), { workerData });
  });
  const all = async <T>(order: Order): Promise<T[]> => {
    // All of them: an engine that is ended in the middle of a query takes the program with it. Of several
    // failures that of the first range is told, as one thread would.
    const settled = await Promise.allSettled(workers.map((worker) => ask<T>(worker, order)));
    return settled.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
  };
  return {
    async first(episodesAtMost) {
      const shards = await all<ShardState[]>({ pass: 'first', episodesAtMost });
      const whole = shards[0]!;
      for (const shard of shards.slice(1))
        shard.forEach((state, p) => {
          mergeShards(whole[p]!, state, rows.episodesOf);
        });
      return whole;
    },
    async second(terms) {
      await all({ pass: 'second', terms });
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
