import type { Severity } from '../schema/check.ts';

/** What the pass over the tokens looks for. */
export interface TokenCheck {
  readonly code: string;
  readonly severity: Severity;
  readonly column: string;
  readonly message: string;
  readonly fix: string;
}

const token = (
  code: string,
  severity: Severity,
  column: string,
  message: string,
  fix: string,
): TokenCheck => ({
  code,
  severity,
  column,
  message,
  fix,
});

export const TOKEN = {
  lengths: token(
    'length-mismatch',
    'error',
    'segments.token_ids',
    'arrays of one segment differ in length',
    'Every array of a segment has one entry a token; null where there is none.',
  ),
  notFinite: token(
    'logprob-not-finite',
    'error',
    'segments.behaviour_logprobs',
    'log-probabilities of tokens are NaN or infinite',
    'Log null where the log-probability is unknown.',
  ),
  standIn: token(
    'logprob-stand-in',
    'error',
    'segments.behaviour_logprobs',
    'sampled tokens have a log-probability below −1000: a stand-in for none, such as −9999 or −1e308',
    'Log null where the log-probability is unknown; the turn then has no ratio.',
  ),
  positive: token(
    'logprob-positive',
    'error',
    'segments.behaviour_logprobs',
    'log-probabilities of tokens are above 0: a probability above 1',
    'Check the sign: a negative log-likelihood may have been logged.',
  ),
  probability: token(
    'logprob-is-probability',
    'error',
    'segments.behaviour_logprobs',
    'every sampled token of a segment has a value in (0, 1]: probabilities were logged, not their logarithms',
    'Log the natural logarithm.',
  ),
  zeroUnsampled: token(
    'logprob-zero-unsampled',
    'warning',
    'segments.behaviour_logprobs',
    'tokens that were not sampled carry log-probability 0.0: a stand-in that reads as probability 1',
    'Log null where action_mask is false.',
  ),
  unsampled: token(
    'logprob-unsampled',
    'warning',
    'segments.behaviour_logprobs',
    'tokens that were not sampled carry a log-probability: the mask may be wrong',
    'Check action_mask; log null where it is false.',
  ),
  zeroSampled: token(
    'logprob-zero-sampled',
    'warning',
    'segments.behaviour_logprobs',
    'most sampled tokens of a segment have log-probability exactly 0.0: a stand-in, or greedy decoding',
    'Log null where the log-probability is unknown.',
  ),
  missing: token(
    'logprob-missing',
    'warning',
    'segments.behaviour_logprobs',
    'some sampled tokens of a segment have a log-probability and some have none',
    'Log it for every sampled token; a turn with a gap has no ratio.',
  ),
  turnUnknown: token(
    'token-turn-unknown',
    'error',
    'segments.token_turn',
    'sampled tokens belong to no turn, or to one that the episode does not have',
    'token_turn holds the number of the turn of every sampled token.',
  ),
  turnOrder: token(
    'token-turn-order',
    'error',
    'segments.token_turn',
    'sampled tokens of an earlier turn follow those of a later one',
    'A segment is one append-only context, turn after turn.',
  ),
  turnSegment: token(
    'token-turn-segment',
    'warning',
    'turns.segment',
    'sampled tokens of a turn lie in another segment than the turn names',
    'Of several copies of a turn (forks), mask all but the one that turns.segment names.',
  ),
  count: token(
    'action-token-count',
    'error',
    'turns.n_action_tokens',
    'n_action_tokens is not the number of sampled tokens of the turn',
    'Count the tokens of the turn whose action_mask is true.',
  ),
  sum: token(
    'logprob-sum',
    'error',
    'turns.behaviour_logprob',
    'behaviour_logprob is not the sum of the log-probabilities of the sampled tokens of the turn',
    'Sum over the tokens whose action_mask is true, and over no others.',
  ),
  versionOrder: token(
    'token-version-reversed',
    'warning',
    'segments.versions',
    'later tokens of a segment were sampled by an older policy version',
    'Check which version numbers the log holds.',
  ),
} as const;
