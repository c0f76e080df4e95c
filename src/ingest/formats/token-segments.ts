import type { EpisodeInput } from '../../schema/episode.ts';

type SegmentInput = NonNullable<EpisodeInput['segments']>[number];

/** Tokens of one model call. */
export interface CallTokens {
  readonly turn: number;
  readonly prompt: readonly number[];
  readonly completion: readonly number[];
  /** [completion.length], where the log has them; null: that one is not known. */
  readonly logprobs: readonly (number | null)[] | null;
}

interface Segment {
  token_ids: number[];
  action_mask: boolean[];
  behaviour_logprobs: (number | null)[];
  token_turn: (number | null)[];
}

/**
 * Token sequences of an episode, from its model calls in order. A call whose prompt begins with
 * everything seen so far (append-only context) continues the segment: the tokens between are masked,
 * belong to no turn, and nothing is stored twice. Any other prompt (context compaction, a fork, another encoding of the
 * history) starts a segment of its own.
 *
 * `segmentOf[i]` is the segment of calls[i]. Cost: O(Σ prompt + completion).
 */
export function segmentsOfCalls(calls: readonly CallTokens[]): {
  readonly segments: SegmentInput[];
  readonly segmentOf: number[];
} {
  const segments: Segment[] = [];
  const segmentOf: number[] = [];
  for (const call of calls) {
    let segment = segments.at(-1);
    if (segment === undefined || !beginsWith(call.prompt, segment.token_ids)) {
      segment = { token_ids: [], action_mask: [], behaviour_logprobs: [], token_turn: [] };
      segments.push(segment);
    }
    for (let i = segment.token_ids.length; i < call.prompt.length; i++)
      push(segment, call.prompt[i]!, false, null, null);
    for (let i = 0; i < call.completion.length; i++)
      push(segment, call.completion[i]!, true, call.logprobs === null ? null : call.logprobs[i]!, call.turn);
    segmentOf.push(segments.length - 1);
  }
  return { segments: segments.map(withoutEmptyLogprobs), segmentOf };
}

function push(
  segment: Segment,
  token: number,
  sampled: boolean,
  logprob: number | null,
  turn: number | null,
): void {
  segment.token_ids.push(token);
  segment.action_mask.push(sampled);
  segment.behaviour_logprobs.push(logprob);
  segment.token_turn.push(turn);
}

function beginsWith(prompt: readonly number[], seen: readonly number[]): boolean {
  if (prompt.length < seen.length) return false;
  for (let i = 0; i < seen.length; i++) if (prompt[i] !== seen[i]) return false;
  return true;
}

function withoutEmptyLogprobs(segment: Segment): SegmentInput {
  const known = segment.behaviour_logprobs.some((logprob) => logprob !== null);
  return { ...segment, behaviour_logprobs: known ? segment.behaviour_logprobs : null };
}
