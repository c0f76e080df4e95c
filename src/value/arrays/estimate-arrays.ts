/*
 * All estimators of the importance-sampling and doubly robust families at once, from arrays in memory: weights and
 * sums by stage, then influence values, then means and clustered errors. What a program that has its own columns
 * calls; `evaluate` adds checks, bounds, warnings and records.
 *
 *   IS, WIS, PDIS, WPDIS (carried, alive, alive-mean-over-n); with Q̂ and V̂ columns also DR, WDR (carried, alive)
 *
 * O(turns) time; memory 8 bytes a turn and about 100 an episode. Columns in shared memory
 * (`new Float64Array(new SharedArrayBuffer(8 * turns))`) are worked on by every core, others by this thread;
 * the digits are the same.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { studentQuantile } from '../../math/distributions.ts';
import { NO_SPREAD, withoutSpread } from '../../math/no-spread.ts';
import { type TailIndex, tailIndex } from '../../math/pareto.ts';
import { mean } from '../../math/statistics.ts';
import { sum } from '../../math/sum.ts';
import { parseConfig } from '../../schema/parse-config.ts';
import { ask } from '../../threads/ask.ts';
import { workerUrl } from '../../threads/worker-url.ts';
import { ratioTerms } from '../stream/second-pass.ts';
import { toStageSums } from '../stream/stage-state.ts';
import { checkArrays } from './check-arrays.ts';
import { type Columns, doubles, type EpisodeArrays, inSharedMemory, type Rows, rowsFor } from './columns.ts';
import { farApart, type Values } from './far-apart.ts';
import { fits, toState, totals } from './weigh.ts';
import { allSums, chunksOf, influencesOf, type Order, type Shared, sumsLength, work } from './work.ts';

export interface ArrayEstimate {
  readonly estimator: string;
  readonly value: number;
  readonly se: number;
  /** Null where there is no interval; `noInterval` says why. */
  readonly lo: number | null;
  readonly hi: number | null;
  readonly noInterval?: string;
}

export interface ArrayEstimates {
  readonly estimates: readonly ArrayEstimate[];
  readonly ess: number;
  readonly tail: TailIndex;
}

export interface ArraySettings {
  /** Coverage that the intervals aim at (CR1, t with clusters − 1). */
  readonly level?: number;
  /** As many as there are cores, where there is enough to do, unless told otherwise. */
  readonly threads?: number;
}

const Settings = z.strictObject({
  level: z.number().gt(0).lt(1).optional(),
  threads: z.int().min(1).optional(),
});

/** Turns below which another thread costs more than it saves. */
const WORTH_A_THREAD = 3_000_000;

/**
 * Values, clustered standard errors and intervals of every estimator, the effective sample size and Pareto k̂.
 * @throws exit code 2 where a column has another length, or a number that cannot be one
 */
export async function estimateArrays(
  arrays: EpisodeArrays,
  settings: ArraySettings = {},
): Promise<ArrayEstimates> {
  const stages = checkArrays(arrays);
  const { level = 0.95, threads: asked } = parseConfig(Settings, settings, 'estimateArrays, settings');
  const { offsets, behaviour, target, rewards, clusters, q = null } = arrays;
  const columns: Columns = {
    offsets,
    behaviour,
    target,
    rewards,
    task: clusters.of,
    tasks: clusters.count,
    q,
  };
  const chunks = chunksOf(offsets);
  const threads = asked ?? (rewards.length < WORTH_A_THREAD ? 1 : availableParallelism());
  const several = threads > 1 && inSharedMemory(columns);
  const shared: Shared = {
    columns,
    rows: rowsFor(columns, several),
    chunks,
    sums: doubles(sumsLength(chunks, stages), several),
    moments: doubles(2 * 9, several),
    next: several ? new Int32Array(new SharedArrayBuffer(12)) : new Int32Array(3),
  };
  const others = several ? Math.min(threads, chunks.length - 1) - 1 : 0;
  const workers = Array.from(
    { length: others },
    () => new Worker(workerUrl(import.meta.url, 'worker'), { workerData: shared }),
  );
  const all = async (order: Order) => {
    const answers = Promise.all(workers.map((worker) => ask<null>(worker, order)));
    work(shared, order);
    await answers;
  };
  try {
    await all({ pass: 'weigh' });
    const values = await influences(shared, all);
    await all({ pass: 'moments' });
    return results(shared, values, studentQuantile((1 + level) / 2, clusters.count - 1));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Fills in the influence values. */
async function influences(shared: Shared, all: (order: Order) => Promise<void>): Promise<Values> {
  const { columns, rows } = shared;
  const sums = allSums(shared);
  if (!fits(sums)) return farApart(columns, rows);
  const state = toState(sums, columns.offsets.length - 1);
  const stageSums = toStageSums(state);
  const terms = (columns.q === null ? [0] : [0, 1]).map((c) => ratioTerms(state, stageSums, c));
  const found = totals(sums);
  await all({ pass: 'influence', found: { terms, totals: found } });
  return {
    wis: found.product / found.weight,
    ess: (found.weight * found.weight) / found.squares,
    ratios: terms,
  };
}

function results({ columns, rows, moments }: Shared, values: Values, t: number): ArrayEstimates {
  const means = influencesOf(rows).map((_, e) => moments[2 * e]!);
  const own = valuesOf(columns, rows, values, means);
  return {
    estimates: influencesOf(rows).map(([estimator], e) => {
      const [value, se] = [own[e]!, moments[2 * e + 1]!];
      return { estimator, value, se, ...limits(value, se, t, columns.tasks) };
    }),
    ess: values.ess,
    tail: tailIndex(rows.weight),
  };
}

/** Arrays hold no claim that returns are 0 or 1, so that a spread of 0 leaves no exact interval either. */
function limits(
  value: number,
  se: number,
  t: number,
  tasks: number,
): Pick<ArrayEstimate, 'lo' | 'hi' | 'noInterval'> {
  const none = (noInterval: string) => ({ lo: null, hi: null, noInterval });
  if (tasks < 2) return none('one cluster gives no standard error');
  if (!Number.isFinite(value) || !Number.isFinite(se)) return none('the estimate or its error is not finite');
  if (withoutSpread(se, value)) return none(NO_SPREAD);
  return { lo: value - t * se, hi: value + t * se };
}

/** In the order of `influencesOf`: means where the influence values are the terms of one, sums of ratios elsewhere. */
function valuesOf({ offsets, q }: Columns, rows: Rows, { wis, ratios }: Values, means: readonly number[]) {
  const [r, d] = ratios;
  const overN = sum(r!.alive.map((x, t) => x * r!.share[t]!));
  const plain = [means[0]!, wis, means[2]!, sum(r!.carried), sum(r!.alive), overN];
  if (q === null || rows.model === null) return plain;
  const start = mean(Float64Array.from({ length: offsets.length - 1 }, (_, i) => q.v[offsets[i]!]!));
  return [...plain, means[6]!, start + sum(d!.carried), start + sum(d!.alive)];
}
