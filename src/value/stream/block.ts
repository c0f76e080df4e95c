/** Some whole episodes, one after the other, as one target sees them. */
export interface EpisodeBlock {
  readonly n: number;
  /** Place of the first of them among all episodes. */
  readonly row: number;
  /** [n + 1] turns of episode i: offsets[i] to offsets[i + 1]. */
  readonly offsets: Int32Array;
  /** [n] 1: counts; null: all do. */
  readonly use: Uint8Array | null;
  readonly logRatios: Float64Array; // [turns] log ρ_t
  /** Columns of [turns]: γ^t r_t, and what else is weighted like rewards (δ_t of a regression). */
  readonly rewards: readonly Float64Array[];
}

/** What is kept of every episode, [N] each, by its place among all. */
export interface EpisodeRows {
  readonly logWeight: Float64Array; // log w_T
  /** Σ_t w_t r_t, by reward column. */
  readonly weighted: readonly Float64Array[];
}

/** Above this a double is stored divided by e^shift; exp(±600) squared and summed still fits. */
const FITS = 300;

/** The shift of a stage whose largest log-weight is `top`. */
export const shiftOf = (top: number): number => (Number.isFinite(top) && Math.abs(top) > FITS ? top : 0);
