import type { Ending } from '../schema/episode.ts';

/** A text column as codes into its distinct values; −1 is null. */
export interface Coded {
  readonly codes: Int32Array;
  readonly values: readonly string[];
}

/** Columns of the episodes, [E]. NaN and −1 are nulls. */
export interface EpisodeColumns {
  /** Number in the store. */
  readonly episode: Float64Array;
  readonly id: readonly string[];
  readonly source: Int32Array;
  readonly task: Coded;
  readonly trial: Int32Array;
  readonly policy: Coded;
  readonly versionStart: Coded;
  readonly versionEnd: Coded;
  /** Codes into ENDINGS. */
  readonly ending: Uint8Array;
  /** Paid at the end; NaN where the log has none. */
  readonly reward: Float64Array;
  readonly cost: Float64Array;
}

/** Columns of the turns, [S], in the order of (episode, turn). NaN and −1 are nulls. */
export interface TurnColumns {
  readonly turn: Int32Array;
  readonly toolErrors: Int32Array;
  readonly reward: Float64Array;
  readonly processReward: Float64Array;
  readonly behaviourLogprob: Float64Array;
  readonly behaviourLogPropensity: Float64Array;
  readonly nActionTokens: Int32Array;
  readonly version: Coded;
  readonly temperature: Float64Array;
  readonly topP: Float64Array;
  readonly topK: Int32Array;
  readonly logprobKind: Coded;
  readonly actionClass: Coded;
}

/** Ragged DOUBLE[] column of the turns: row i holds values offsets[i] to offsets[i + 1]. */
export interface Ragged {
  readonly offsets: Int32Array;
  readonly values: Float64Array;
}

/** Tokens of the segments, loaded on demand. Segment g of episode e: segmentOffsets[e] ≤ g < segmentOffsets[e + 1]. */
export interface TokenColumns {
  readonly segmentOffsets: Int32Array; // [E + 1]
  readonly tokenOffsets: Int32Array; // [segments + 1]
  readonly tokenIds: Int32Array; // [tokens]
  readonly actionMask: Uint8Array; // [tokens]
  readonly behaviourLogprobs: Float32Array; // [tokens], NaN where null
  readonly tokenTurn: Int32Array; // [tokens], −1 where null
}

/**
 * The ragged columnar view of logged trajectories. Filters and splits are new `index` arrays over
 * the same columns: episode row e = index[i] holds turn rows episodeOffsets[e] to episodeOffsets[e + 1].
 */
export interface Trajectories {
  readonly index: Int32Array; // [N] rows of `episodes` in this view
  readonly episodeOffsets: Int32Array; // [E + 1]
  readonly episodes: EpisodeColumns;
  readonly turns: TurnColumns;
  readonly features: Ragged | null;
  readonly tokens: TokenColumns | null;
}

/** Cluster of each episode in the view, [N]: its task, or itself where it has none. Codes are dense from 0. */
export interface Clusters {
  readonly of: Int32Array;
  readonly count: number;
}

export type { Ending };
