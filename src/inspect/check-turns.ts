import { LARGEST_REWARD } from '../trajectories/return.ts';
import { usableSql } from '../trajectories/return-sql.ts';
import { holdsStandInSql, isStandInSql } from '../weights/stand-in.ts';
import { CALL_COUNTS } from './call-counts.ts';
import { offending, type Rule } from './rule.ts';

/** Fewer values than this say nothing about a column as a whole. */
const ENOUGH = 20;

/** Log-probabilities of turns, of the policy that acted and of others. */
const LOGPROBS = [
  { table: 'turns', column: 'behaviour_logprob', impossible: true },
  { table: 'turns', column: 'behaviour_log_propensity', impossible: true },
  // A target may well give probability 0 to what was logged: −∞ is a value there.
  { table: 'scores', column: 'logprob', impossible: false },
  { table: 'scores', column: 'log_propensity', impossible: false },
] as const;

/** Whether every value of a column is a probability rather than the logarithm of one. */
const allProbabilities = (table: string, column: string): string =>
  `(SELECT count(*) >= ${ENOUGH} AND min(${column}) > 0 AND max(${column}) <= 1 FROM ${table} WHERE ${column} IS NOT NULL)`;

const logprobRules = LOGPROBS.flatMap(({ table, column, impossible }): Rule[] => [
  {
    code: 'logprob-not-finite',
    severity: 'error',
    column: `${table}.${column}`,
    message: impossible
      ? 'log-probabilities of actions that were taken are NaN or infinite'
      : 'log-probabilities are NaN or +∞',
    fix: 'Log null where the log-probability is unknown.',
    sql: offending({
      turn: 'turn',
      value: column,
      from: `FROM ${table} WHERE ${column} IS NOT NULL AND ${impossible ? `NOT isfinite(${column})` : `(isnan(${column}) OR ${column} = 'inf'::DOUBLE)`}`,
    }),
  },
  {
    code: 'logprob-positive',
    severity: 'error',
    column: `${table}.${column}`,
    message: 'log-probabilities are above 0: a probability above 1',
    fix: 'Check the sign: a negative log-likelihood or a loss may have been logged. Densities of continuous actions do not belong here.',
    sql: offending({
      turn: 'turn',
      value: column,
      from: `FROM ${table} WHERE ${column} > 1e-6 AND isfinite(${column}) AND NOT ${allProbabilities(table, column)}`,
    }),
  },
  {
    code: 'logprob-is-probability',
    severity: 'error',
    column: `${table}.${column}`,
    message: 'every value lies in (0, 1]: probabilities were logged where their logarithms belong',
    fix: 'Log the natural logarithm.',
    sql: offending({
      turn: 'turn',
      value: column,
      from: `FROM ${table} WHERE ${column} IS NOT NULL AND ${allProbabilities(table, column)}`,
    }),
  },
]);

const constant = (column: string, having: string): string =>
  offending({
    episode: 'min(episode)',
    value: `min(${column})`,
    n: `count(*)`,
    from: `FROM turns WHERE ${column} IS NOT NULL
      HAVING count(*) >= ${ENOUGH} AND min(${column}) = max(${column}) AND ${having}`,
  });
/** A policy that draws among all of its classes alike has a constant propensity, by right. */
const uniform =
  'abs(exp(-min(behaviour_log_propensity)) - count(DISTINCT action_class)) < 0.01 AND count(DISTINCT action_class) > 1';

const withTokens = 'episode IN (SELECT episode FROM segments WHERE behaviour_logprobs IS NOT NULL)';
const hasLogprob = `(behaviour_logprob IS NOT NULL OR ${withTokens})`;

/** Some turns have it and some have not; an episode with a gap has no ratio. */
const partial = (column: string, what: string): Rule => ({
  code: 'logprob-partial',
  severity: 'warning',
  column: `turns.${column}`,
  message: `some turns have a ${what} and some have none: episodes with a gap cannot be reweighted`,
  fix: `Log the ${what} of every turn.`,
  sql: offending({
    turn: 'turn',
    from: `FROM turns WHERE ${column} IS NULL AND coalesce(n_action_tokens, 1) > 0
      AND (SELECT count(${column}) FROM turns) > 0`,
  }),
});

/** Turns whose log-probability no action that was taken has; −∞ and NaN have a code of their own. */
const standIn = (column: string, found: string): Rule => ({
  code: 'logprob-stand-in-used',
  severity: 'error',
  column: `turns.${column}`,
  message:
    'log-probabilities of actions that were taken are beyond any probability: a stand-in for none, such as −9999 or −1e308, was logged or summed',
  fix: 'Log null where the log-probability is unknown.',
  sql: offending({ turn: 'turn', value: column, from: `FROM turns WHERE ${found} AND isfinite(${column})` }),
});

/** Log-probability exactly 0 over so many tokens is a stand-in, or greedy decoding. */
const MANY_TOKENS = 8;

/** What can be wrong with turns, looked at one by one or as columns. */
export const TURN_RULES: readonly Rule[] = [
  ...logprobRules,
  standIn('behaviour_logprob', holdsStandInSql('behaviour_logprob')),
  standIn('behaviour_log_propensity', isStandInSql('behaviour_log_propensity')),
  {
    code: 'logprob-zero-sampled',
    severity: 'warning',
    column: 'turns.behaviour_logprob',
    message: `turns of ${MANY_TOKENS} sampled tokens or more have log-probability exactly 0: a stand-in, or greedy decoding`,
    fix: 'Log null where the log-probability is unknown.',
    sql: offending({
      turn: 'turn',
      value: "behaviour_logprob || ' over ' || n_action_tokens || ' tokens'",
      from: `FROM turns WHERE behaviour_logprob = 0 AND n_action_tokens >= ${MANY_TOKENS}`,
    }),
  },
  partial('behaviour_logprob', 'log-probability'),
  partial('behaviour_log_propensity', 'propensity'),
  {
    code: 'logprob-none',
    severity: 'note',
    column: 'turns.behaviour_logprob',
    message:
      'no turn has a log-probability or a propensity of the policy that acted: nothing can be reweighted',
    fix: 'Log the log-probabilities of the sampled tokens; they cannot be had afterwards but by scoring with the very same model.',
    sql: offending({
      episode: 'min(episode)',
      n: 'count(*)',
      from: `FROM turns HAVING count(*) > 0 AND count(behaviour_logprob) = 0 AND count(behaviour_log_propensity) = 0
        AND NOT EXISTS (FROM segments WHERE behaviour_logprobs IS NOT NULL)`,
    }),
  },
  {
    code: 'logprob-constant',
    severity: 'warning',
    column: 'turns.behaviour_logprob',
    message: 'every turn has the same log-probability: a stand-in, not a measurement',
    fix: 'Log the sum of the log-probabilities of the sampled tokens, or null.',
    sql: constant('behaviour_logprob', 'true'),
  },
  {
    code: 'propensity-constant',
    severity: 'warning',
    column: 'turns.behaviour_log_propensity',
    message:
      'every turn has the same propensity: a stand-in, or a policy that never varies and tells nothing of another',
    fix: 'Log the probability of the chosen action class at each turn.',
    sql: constant('behaviour_log_propensity', `NOT (${uniform})`),
  },
  {
    code: 'propensity-uniform',
    severity: 'note',
    column: 'turns.behaviour_log_propensity',
    message: 'every action class was drawn with the same probability',
    fix: 'Nothing to fix if the logging policy was uniform.',
    sql: constant('behaviour_log_propensity', uniform),
  },
  {
    code: 'turn-reward-not-finite',
    severity: 'error',
    column: 'turns.reward',
    message: `rewards of turns are NaN, infinite or beyond ${LARGEST_REWARD} in size: with one in \`reward\` the episode is left out of every value`,
    fix: 'Log null where a reward is unknown.',
    sql: offending({
      turn: 'turn',
      value: `CASE WHEN ${usableSql('reward')} THEN 'process_reward ' || process_reward ELSE reward::VARCHAR END`,
      from: `FROM turns WHERE NOT ${usableSql('reward')} OR NOT ${usableSql('process_reward')}`,
    }),
  },
  {
    code: 'logprob-kind-unknown',
    severity: 'warning',
    column: 'turns.logprob_kind',
    message: 'it is unknown whether log-probabilities are raw or after temperature, top-p and top-k',
    fix: 'Log logprob_kind: a ratio of raw to processed log-probabilities is wrong without looking wrong.',
    sql: offending({ turn: 'turn', from: `FROM turns WHERE logprob_kind IS NULL AND ${hasLogprob}` }),
  },
  {
    code: 'logprob-kind-mixed',
    severity: 'warning',
    column: 'turns.logprob_kind',
    message: 'raw and processed log-probabilities lie in one store',
    fix: 'Compare a target with turns of its own kind only; keep the two in stores of their own.',
    sql: offending({
      episode: 'min(episode)',
      value: "logprob_kind || ': ' || count(*) || ' turns'",
      n: 'count(*)',
      from: `FROM turns WHERE logprob_kind IS NOT NULL AND ${hasLogprob}
        AND (SELECT count(DISTINCT logprob_kind) FROM turns WHERE logprob_kind IS NOT NULL AND ${hasLogprob}) > 1
        GROUP BY logprob_kind`,
    }),
  },
  {
    code: 'logprob-raw-of-other-sampling',
    severity: 'warning',
    column: 'turns.logprob_kind',
    message:
      'log-probabilities are raw, but tokens were sampled with a temperature, top-p or top-k: they are not those of the policy that acted',
    fix: 'Log processed log-probabilities, or sample with temperature 1 and no cut.',
    sql: offending({
      turn: 'turn',
      value: samplingText(),
      from: `FROM turns WHERE logprob_kind = 'raw' AND ${hasLogprob} AND (temperature <> 1 OR top_p < 1 OR top_k > 0)`,
    }),
  },
  {
    code: 'sampling-mixed',
    severity: 'warning',
    column: 'turns.temperature',
    message: 'one policy acted under several sampling parameters: they are several behaviour policies',
    fix: 'Name each setting as a policy of its own, or use the logged log-probabilities of each turn.',
    sql: offending({
      episode: 'min(episode)',
      value: `coalesce(policy, '(no policy)') || ': ' || sampling || ', ' || count(*) || ' turns'`,
      n: 'count(*)',
      from: `FROM (
          SELECT t.episode, e.policy, ${samplingText('t.')} AS sampling FROM turns t JOIN episodes e USING (episode)
          WHERE t.temperature IS NOT NULL OR t.top_p IS NOT NULL OR t.top_k IS NOT NULL)
        GROUP BY policy, sampling QUALIFY count(*) OVER (PARTITION BY policy) > 1`,
    }),
  },
  {
    code: 'temperature-zero',
    severity: 'warning',
    column: 'turns.temperature',
    message: 'turns were decoded at temperature 0: no overlap with any policy that acts otherwise',
    fix: 'Sample with a temperature where logs are to be evaluated off-policy.',
    sql: offending({ turn: 'turn', value: 'temperature', from: 'FROM turns WHERE temperature = 0' }),
  },
  {
    code: 'tool-error-unknown',
    severity: 'note',
    column: 'turns.tool_calls',
    message: 'tool calls do not say whether they failed',
    fix: 'Log error: true or false on each call; a rate leaves the unknown ones out, and where successes are not marked it is a lower bound.',
    sql: offending({
      turn: 'turn',
      value: 'any_value(name)',
      n: 'sum(n)',
      from: `FROM ${CALL_COUNTS} WHERE error IS NULL GROUP BY episode, turn`,
    }),
  },
  {
    code: 'empty-turn',
    severity: 'note',
    column: 'turns.action',
    message: 'turns say nothing of what was done: no text, no tool call, no tokens, no action class',
    fix: 'Check that the action was recognised in the log.',
    sql: offending({
      turn: 'turn',
      from: `FROM turns WHERE coalesce(action, '') = '' AND action_class IS NULL
        AND coalesce(tool_calls::VARCHAR, '[]') = '[]' AND coalesce(n_action_tokens, 0) = 0 AND segment IS NULL`,
    }),
  },
];

/** Sampling parameters of a turn as text. */
function samplingText(of = ''): string {
  return `concat_ws(', ', 'temperature ' || ${of}temperature, 'top_p ' || ${of}top_p, 'top_k ' || ${of}top_k)`;
}
