import type { Coded, Ragged, TokenColumns, Trajectories } from './trajectories.ts';

/** Whether the view is every episode of the columns, in order. */
export function isWhole(t: Trajectories): boolean {
  return t.index.length + 1 === t.episodeOffsets.length && t.index.every((e, i) => e === i);
}

/**
 * The view with columns of its own: only its episodes, in its order, one as often as the view holds
 * it. The trajectories themselves where the view is the whole. Text columns keep their codes.
 */
export function compact(t: Trajectories): Trajectories {
  if (isWhole(t)) return t;
  const { index, episodes, turns } = t;
  const rows = takeRanges(index, t.episodeOffsets);
  const code = (c: Coded, at: Int32Array): Coded => ({ codes: take(c.codes, at), values: c.values });
  return {
    index: index.map((_, i) => i),
    episodeOffsets: rows.offsets,
    episodes: {
      episode: take(episodes.episode, index),
      id: Array.from(index, (e) => episodes.id[e]!),
      source: take(episodes.source, index),
      task: code(episodes.task, index),
      trial: take(episodes.trial, index),
      policy: code(episodes.policy, index),
      versionStart: code(episodes.versionStart, index),
      versionEnd: code(episodes.versionEnd, index),
      ending: take(episodes.ending, index),
      reward: take(episodes.reward, index),
      cost: take(episodes.cost, index),
    },
    turns: {
      turn: take(turns.turn, rows.from),
      toolErrors: take(turns.toolErrors, rows.from),
      reward: take(turns.reward, rows.from),
      processReward: take(turns.processReward, rows.from),
      behaviourLogprob: take(turns.behaviourLogprob, rows.from),
      behaviourLogPropensity: take(turns.behaviourLogPropensity, rows.from),
      nActionTokens: take(turns.nActionTokens, rows.from),
      version: code(turns.version, rows.from),
      temperature: take(turns.temperature, rows.from),
      topP: take(turns.topP, rows.from),
      topK: take(turns.topK, rows.from),
      logprobKind: code(turns.logprobKind, rows.from),
      actionClass: code(turns.actionClass, rows.from),
    },
    features: t.features && takeRagged(t.features, rows.from),
    tokens: t.tokens && takeTokens(t.tokens, index),
  };
}

function takeRagged({ offsets, values }: Ragged, rows: Int32Array): Ragged {
  const kept = takeRanges(rows, offsets);
  return { offsets: kept.offsets, values: take(values, kept.from) };
}

function takeTokens(t: TokenColumns, index: Int32Array): TokenColumns {
  const segments = takeRanges(index, t.segmentOffsets);
  const tokens = takeRanges(segments.from, t.tokenOffsets);
  return {
    segmentOffsets: segments.offsets,
    tokenOffsets: tokens.offsets,
    tokenIds: take(t.tokenIds, tokens.from),
    actionMask: take(t.actionMask, tokens.from),
    behaviourLogprobs: take(t.behaviourLogprobs, tokens.from),
    tokenTurn: take(t.tokenTurn, tokens.from),
  };
}

/** Children of the rows at `rows`: which they are, and their offsets once laid end to end. */
function takeRanges(rows: Int32Array, offsets: Int32Array): { from: Int32Array; offsets: Int32Array } {
  const kept = new Int32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) kept[i + 1] = kept[i]! + offsets[rows[i]! + 1]! - offsets[rows[i]!]!;
  const from = new Int32Array(kept.at(-1)!);
  for (let i = 0; i < rows.length; i++)
    for (let j = kept[i]!, s = offsets[rows[i]!]!; j < kept[i + 1]!; j++, s++) from[j] = s;
  return { from, offsets: kept };
}

function take<A extends Float64Array | Float32Array | Int32Array | Uint8Array>(
  values: A,
  rows: Int32Array,
): A {
  const kept = new (values.constructor as new (n: number) => A)(rows.length);
  for (let i = 0; i < rows.length; i++) kept[i] = values[rows[i]!]!;
  return kept;
}
