import type { Episode } from '../schema/episode.ts';
import type { Batch, ColumnData } from '../store/batch.ts';
import { boolWriter, type ColumnWriter, listWriter, numberWriter, textWriter } from './column-writer.ts';
import { jsonText } from './json-text.ts';
import type { TokenSegment } from './segment-scan.ts';
import { episodeEnding, toolErrors } from './settle.ts';

/** Some episodes as columns. `episode` counts from 0 within the block, `source` is left to the writer. */
export interface EpisodeBlock {
  readonly episodes: Batch;
  readonly turns: Batch;
  readonly segments: Batch;
  /** [episodes] where each record lies in its file, for a reject found later; NaN: no lines. */
  readonly lines: Float64Array;
  readonly byteOffsets: Float64Array;
  /** How many endings were absent and settled by rule. */
  readonly endingsAssumed: number;
  /** Log-probabilities and log-propensities above 0: no probability exceeds 1. */
  readonly positive: number;
  /** Times that the store's type does not hold, left out: year 1, for instance, which stands for "none" elsewhere. */
  readonly timesLeftOut: number;
}

/** Where a record lies in its file; NaN where the format has no lines or bytes. */
export interface Place {
  readonly line: number;
  readonly byteOffset: number;
}

export interface EpisodeColumns {
  /** `segments` take the place of `episode.segments` where they were read off the bytes. */
  add(
    episode: Episode,
    place: Place,
    segments?: readonly TokenSegment[],
    fenced?: Readonly<Record<string, unknown>>,
  ): void;
  readonly rows: number;
  finish(): EpisodeBlock;
}

/** Gathers validated episodes into batches of the three episode tables. O(turns + tokens). */
export function episodeColumns(): EpisodeColumns {
  const e = episodeWriters();
  const t = turnWriters();
  const s = segmentWriters();
  const lines: number[] = [];
  const byteOffsets: number[] = [];
  let rows = 0;
  let turns = 0;
  let segmentRows = 0;
  let endingsAssumed = 0;
  let positive = 0;
  let timesLeftOut = 0;

  return {
    get rows() {
      return rows;
    },
    add(episode, place, tokens, fenced) {
      // Whatever can fail comes before any column grows: a record is added whole or not at all.
      const texts = jsonTexts(episode, fenced);
      if (episode.ending === undefined) endingsAssumed++;
      timesLeftOut += addEpisode(e, episode, rows, texts);
      for (let k = 0; k < episode.turns.length; k++) addTurn(t, episode.turns[k]!, rows, k, texts.calls[k]!);
      const segments = tokens ?? episode.segments;
      for (let k = 0; k < segments.length; k++) addSegment(s, segments[k]!, rows, k);
      positive += positives(episode, segments);
      turns += episode.turns.length;
      segmentRows += segments.length;
      lines.push(place.line);
      byteOffsets.push(place.byteOffset);
      rows++;
    },
    finish: () => ({
      episodes: { table: 'episodes', rows, columns: finished(e) },
      turns: { table: 'turns', rows: turns, columns: finished(t) },
      segments: { table: 'segments', rows: segmentRows, columns: finished(s) },
      lines: Float64Array.from(lines),
      byteOffsets: Float64Array.from(byteOffsets),
      endingsAssumed,
      positive,
      timesLeftOut,
    }),
  };
}

/** The JSON columns of an episode and its turns. */
interface JsonTexts {
  readonly rewards: string | null;
  readonly meta: string | null;
  readonly fenced: string | null;
  /** One a turn. */
  readonly calls: readonly (string | null)[];
}

function jsonTexts(x: Episode, fenced: Readonly<Record<string, unknown>> | undefined): JsonTexts {
  return {
    rewards: x.rewards && jsonText(x.rewards),
    meta: x.meta && jsonText(x.meta),
    fenced: fenced === undefined ? null : jsonText(fenced),
    calls: x.turns.map((turn) => turn.tool_calls && jsonText(turn.tool_calls)),
  };
}

function episodeWriters() {
  return {
    episode: numberWriter('i64'),
    episode_id: textWriter(),
    task_id: textWriter(),
    trial: numberWriter('i32'),
    policy: textWriter(),
    version_start: textWriter(),
    version_end: textWriter(),
    ending: textWriter(),
    ending_assumed: boolWriter(),
    reward: numberWriter('f64'),
    rewards: textWriter(),
    n_turns: numberWriter('i32'),
    started_at: numberWriter('i64'),
    ended_at: numberWriter('i64'),
    cost: numberWriter('f64'),
    meta: textWriter(),
    fenced: textWriter(),
  };
}

/** Returns how many times were left out. */
function addEpisode(w: ReturnType<typeof episodeWriters>, x: Episode, row: number, texts: JsonTexts): number {
  const started = microseconds(x.started_at);
  const ended = microseconds(x.ended_at);
  w.episode.push(row);
  w.episode_id.push(x.episode_id);
  w.task_id.push(x.task_id);
  w.trial.push(x.trial);
  w.policy.push(x.policy);
  w.version_start.push(x.version_start);
  w.version_end.push(x.version_end);
  w.ending.push(episodeEnding(x));
  w.ending_assumed.push(x.ending === undefined);
  w.reward.push(x.reward);
  w.rewards.push(texts.rewards);
  w.n_turns.push(x.turns.length);
  w.started_at.push(started);
  w.ended_at.push(ended);
  w.cost.push(x.cost);
  w.meta.push(texts.meta);
  w.fenced.push(texts.fenced);
  return Number(started === null && x.started_at !== null) + Number(ended === null && x.ended_at !== null);
}

function turnWriters() {
  return {
    episode: numberWriter('i64'),
    turn: numberWriter('i32'),
    segment: numberWriter('i32'),
    observation: textWriter(),
    action: textWriter(),
    tool_calls: textWriter(),
    tool_errors: numberWriter('i32'),
    reward: numberWriter('f64'),
    process_reward: numberWriter('f64'),
    behaviour_logprob: numberWriter('f64'),
    behaviour_log_propensity: numberWriter('f64'),
    n_action_tokens: numberWriter('i32'),
    version: textWriter(),
    temperature: numberWriter('f64'),
    top_p: numberWriter('f64'),
    top_k: numberWriter('i32'),
    logprob_kind: textWriter(),
    action_class: textWriter(),
    features: listWriter('f64'),
  };
}

function addTurn(
  w: ReturnType<typeof turnWriters>,
  x: Episode['turns'][number],
  row: number,
  k: number,
  calls: string | null,
): void {
  w.episode.push(row);
  w.turn.push(x.turn ?? k);
  w.segment.push(x.segment);
  w.observation.push(x.observation);
  w.action.push(x.action);
  w.tool_calls.push(calls);
  w.tool_errors.push(toolErrors(x));
  w.reward.push(x.reward);
  w.process_reward.push(x.process_reward);
  w.behaviour_logprob.push(x.behaviour_logprob);
  w.behaviour_log_propensity.push(x.behaviour_log_propensity);
  w.n_action_tokens.push(x.n_action_tokens);
  w.version.push(x.version);
  w.temperature.push(x.sampling?.temperature ?? null);
  w.top_p.push(x.sampling?.top_p ?? null);
  w.top_k.push(x.sampling?.top_k ?? null);
  w.logprob_kind.push(x.logprob_kind);
  w.action_class.push(x.action_class);
  w.features.push(x.features);
}

function segmentWriters() {
  return {
    episode: numberWriter('i64'),
    segment: numberWriter('i32'),
    token_ids: listWriter('i32'),
    action_mask: listWriter('bool'),
    behaviour_logprobs: listWriter('f32'),
    versions: listWriter('i32'),
    token_turn: listWriter('i32'),
  };
}

function addSegment(
  w: ReturnType<typeof segmentWriters>,
  x: Episode['segments'][number] | TokenSegment,
  row: number,
  k: number,
): void {
  w.episode.push(row);
  w.segment.push(k);
  w.token_ids.push(x.token_ids);
  w.action_mask.push(x.action_mask);
  w.behaviour_logprobs.push(x.behaviour_logprobs);
  w.versions.push(x.versions);
  w.token_turn.push(x.token_turn);
}

/** O(turns + tokens). */
function positives(
  episode: Episode,
  segments: readonly (Episode['segments'][number] | TokenSegment)[],
): number {
  let n = 0;
  for (const { behaviour_logprob, behaviour_log_propensity } of episode.turns) {
    if (behaviour_logprob !== null && behaviour_logprob > 0) n++;
    if (behaviour_log_propensity !== null && behaviour_log_propensity > 0) n++;
  }
  for (const { behaviour_logprobs } of segments)
    if (behaviour_logprobs !== null) n += countPositive(behaviour_logprobs);
  return n;
}

/** NaN and null are none. */
export function countPositive(values: Float64Array | readonly (number | null)[]): number {
  let n = 0;
  for (let i = 0; i < values.length; i++) if ((values[i] ?? 0) > 0) n++;
  return n;
}

function finished(writers: Readonly<Record<string, ColumnWriter<never>>>): Record<string, ColumnData> {
  const columns: Record<string, ColumnData> = {};
  for (const [name, writer] of Object.entries(writers)) {
    const data = writer.finish();
    if (data) columns[name] = data;
  }
  return columns;
}

/**
 * Microseconds since 1970 of an ISO time, which Date reads to the millisecond only; null beyond 2^53 of them
 * (before July 1684 and after June 2255), which the columns do not hold.
 */
function microseconds(iso: string | null): number | null {
  if (iso === null) return null;
  const fraction = /\.(\d+)/.exec(iso)?.[1] ?? '';
  const time = Date.parse(iso.replace(/\.\d+/, '')) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
  return Number.isSafeInteger(time) ? time : null;
}
