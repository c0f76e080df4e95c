import type { Clusters } from '../../trajectories/trajectories.ts';

/** Ragged episodes: turns of episode i are offsets[i] to offsets[i + 1]; each has at least one. */
export interface EpisodeArrays {
  readonly offsets: Int32Array; // [n + 1]
  readonly behaviour: Float64Array; // [turns] log b of the logged action, finite
  readonly target: Float64Array; // [turns] log π of the same; −∞ where the target would not take it
  readonly rewards: Float64Array; // [turns] discounted
  readonly clusters: Clusters;
  /** Q̂ at the logged action and V̂ = Σ_a π Q̂, discounted, [turns]. */
  readonly q?: { readonly logged: Float64Array; readonly v: Float64Array } | undefined;
}

/** What every thread reads. */
export interface Columns extends Omit<EpisodeArrays, 'clusters' | 'q'> {
  readonly task: Int32Array; // [n]
  readonly tasks: number;
  readonly q: { readonly logged: Float64Array; readonly v: Float64Array } | null;
}

/** Influence values by estimator, [n] each, in the order in which they are printed. */
export interface Influences {
  readonly is: Float64Array; // w_T G
  readonly wis: Float64Array;
  readonly pdis: Float64Array;
  readonly carried: Float64Array;
  readonly alive: Float64Array;
  readonly aliveMeanOverN: Float64Array;
}
export interface ModelInfluences {
  readonly dr: Float64Array;
  readonly wdrCarried: Float64Array;
  readonly wdrAlive: Float64Array;
}

/** What the threads write, each at the episodes of its chunks. */
export interface Rows extends Influences {
  readonly kept: Float64Array; // [turns] w_t
  readonly weight: Float64Array; // [n] w_T
  readonly returns: Float64Array; // [n] G
  readonly model: ModelInfluences | null;
}

/** Room for `length` doubles, in shared memory where threads write to it. */
export const doubles = (length: number, shared: boolean): Float64Array =>
  shared ? new Float64Array(new SharedArrayBuffer(8 * length)) : new Float64Array(length);

export function rowsFor({ offsets, q }: Columns, shared: boolean): Rows {
  const n = offsets.length - 1;
  const row = () => doubles(n, shared);
  return {
    kept: doubles(offsets[n]!, shared),
    weight: row(),
    returns: row(),
    is: row(),
    wis: row(),
    pdis: row(),
    carried: row(),
    alive: row(),
    aliveMeanOverN: row(),
    model: q === null ? null : { dr: row(), wdrCarried: row(), wdrAlive: row() },
  };
}

/** Whether other threads can read the columns where they are. */
export function inSharedMemory({ offsets, behaviour, target, rewards, task, q }: Columns): boolean {
  const all = [offsets, behaviour, target, rewards, task, ...(q === null ? [] : [q.logged, q.v])];
  return all.every((x) => x.buffer instanceof SharedArrayBuffer);
}
