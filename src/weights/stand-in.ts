/*
 * Numbers that stand where a serving engine had no log-probability: −9999 (vLLM, OpenAI), −1e308 (the smallest
 * double, near enough). No token that was sampled has probability e^−1000, and a mean of −30 nats a token is
 * beyond any vocabulary, so that a turn's sum shows one in it as long as the turn is not very long.
 */

/** A sampled token below this was never measured. */
export const LEAST_TOKEN_LOGPROB = -1000;
const LEAST_MEAN = -30;
/** Tokens that a turn is taken to have at most, where the log does not say. */
const MOST_TOKENS = 33_300;

/** Whether the sum of a turn's log-probabilities holds a stand-in; n < 0: the number of tokens is not known. */
export const holdsStandIn = (sum: number, n: number): boolean =>
  sum < LEAST_TOKEN_LOGPROB + LEAST_MEAN * (n < 0 ? MOST_TOKENS : n);

/** The same in SQL; null is no stand-in. */
export const holdsStandInSql = (sum: string): string =>
  `coalesce(${sum} < ${LEAST_TOKEN_LOGPROB} + ${LEAST_MEAN} * coalesce(n_action_tokens, ${MOST_TOKENS}), false)`;

/** Of a single token, or of an action class. */
export const isStandInSql = (logprob: string): string =>
  `coalesce(${logprob} < ${LEAST_TOKEN_LOGPROB}, false)`;

/** What a scan reads in place of any stand-in: the smallest double, which none but −1e308 comes near. */
export const STAND_IN = -Number.MAX_VALUE;
export const STAND_IN_SQL = `(${STAND_IN})::DOUBLE`;

/** How a turn is refused that has one. */
export const STAND_IN_WORDS =
  'holds a stand-in for no probability, such as −9999 or −1e308 (turnwise check lists such turns and tokens)';
