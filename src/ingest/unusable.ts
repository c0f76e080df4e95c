import { MAX_ARGUMENTS_DEPTH } from '../json/depth.ts';
import type { Episode } from '../schema/episode.ts';
import type { Segment } from '../schema/segment.ts';
import { MAX_FLOAT, MAX_INTEGER } from './segment-scan.ts';
import { unfit } from './unfit.ts';

/**
 * Why a record that fits the schema cannot be stored all the same, or undefined: turn numbers that do
 * not increase, arrays of a segment that differ in length, numbers beyond the type of their column.
 * What is merely suspicious (a positive log-probability, 0.0 for "none") is kept: `check` tells.
 */
export function unusable(episode: Episode): string | undefined {
  return (
    beyond(episode.trial, 'trial') ??
    unusableTurns(episode) ??
    first(episode.segments, (s, k) => unusableSegment(s, `segments[${k}]`)) ??
    unfit(episode.meta, 'meta')
  );
}

function unusableTurns({ turns }: Episode): string | undefined {
  let last = -1;
  for (let k = 0; k < turns.length; k++) {
    const t = turns[k]!;
    const turn = t.turn ?? k;
    if (turn <= last)
      return `turns[${k}].turn: does not increase, got ${turn} after ${last}${t.turn === undefined ? ' (absent: its place)' : ''}`;
    last = turn;
    const wrong =
      beyond(turn, `turns[${k}].turn`) ??
      beyond(t.segment, `turns[${k}].segment`) ??
      beyond(t.tool_errors, `turns[${k}].tool_errors`) ??
      beyond(t.n_action_tokens, `turns[${k}].n_action_tokens`) ??
      beyond(t.sampling?.top_k ?? null, `turns[${k}].sampling.top_k`);
    if (wrong) return wrong;
    for (let c = 0; c < (t.tool_calls?.length ?? 0); c++) {
      const at = `turns[${k}].tool_calls[${c}].arguments`;
      const wrong = unfit(t.tool_calls![c]!.arguments, at, MAX_ARGUMENTS_DEPTH);
      if (wrong) return wrong;
    }
  }
  return undefined;
}

function unusableSegment(segment: Segment, at: string): string | undefined {
  const { token_ids, action_mask, behaviour_logprobs, versions, token_turn } = segment;
  const n = token_ids.length;
  const columns = { action_mask, behaviour_logprobs, versions, token_turn };
  for (const [name, values] of Object.entries(columns))
    if (values && values.length !== n)
      return `${at}.${name}: length differs from token_ids, got ${values.length}, expected ${n}`;
  return (
    first(token_ids, (v, i) => beyond(v, `${at}.token_ids[${i}]`)) ??
    first(versions ?? [], (v, i) => beyond(v, `${at}.versions[${i}]`)) ??
    first(token_turn ?? [], (v, i) => beyond(v, `${at}.token_turn[${i}]`)) ??
    first(behaviour_logprobs ?? [], (v, i) =>
      v !== null && Math.abs(v) > MAX_FLOAT
        ? `${at}.behaviour_logprobs[${i}]: is beyond a 32-bit float, got ${v}`
        : undefined,
    )
  );
}

function beyond(value: number | null, at: string): string | undefined {
  if (value === null || (value <= MAX_INTEGER && value >= -MAX_INTEGER - 1)) return undefined;
  return `${at}: is beyond a 32-bit integer, got ${value}`;
}

function first<T>(
  values: readonly T[],
  wrong: (value: T, i: number) => string | undefined,
): string | undefined {
  for (let i = 0; i < values.length; i++) {
    const reason = wrong(values[i]!, i);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
