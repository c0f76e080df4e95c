import { z } from 'zod';
import { Interval } from './estimate.ts';
import { SavedCritic } from './saved-critic.ts';
import { ToolErrors } from './tool-errors.ts';
import { Warning } from './warning.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);

/** Quantiles of type 7 (the default of R and NumPy) of one count per row. */
export const Spread = z.strictObject({
  mean: z.number(),
  min: z.number(),
  p10: z.number(),
  p50: z.number(),
  p90: z.number(),
  p99: z.number(),
  max: z.number(),
});
export type Spread = z.infer<typeof Spread>;

export const RewardSummary = z.strictObject({
  mean: z.number().describe('Mean return over the n episodes that have one.'),
  se: z.number().nullable().describe('Clustered by task, CR1: for new tasks from this population.'),
  seNaive: z.number().describe('Episodes taken as independent: sqrt(mean((G − mean)²)/n).'),
  interval: Interval.nullable().describe(
    'mean ± t(clusters − 1) · se; null below 5 clusters. Without any spread Clopper-Pearson over tasks where all returns are 0 or 1, else null.',
  ),
  n: count.describe('Episodes with a return: not aborted, and a reward somewhere.'),
  clusters: count.describe('Tasks among the n; an episode without a task is its own cluster.'),
  estimand: z.string(),
  theseTasks: z
    .strictObject({
      estimand: z.string(),
      se: z.number().describe('From the spread within tasks: sqrt(Σ_c n_c s_c² / n²).'),
      interval: Interval.nullable(),
    })
    .nullable()
    .describe('The second estimand; null unless every episode has a task and every task two returns.'),
  min: z.number(),
  max: z.number(),
  binary: z.boolean().describe('Whether every return is 0 or 1, within 1e-6.'),
  successRate: share.nullable().describe('Share of the n whose return is 1 within 1e-6; null unless binary.'),
  abortedAsZero: z
    .strictObject({
      mean: z.number(),
      se: z.number().nullable().describe('CR1, as above.'),
      interval: Interval.nullable(),
      n: count.describe('Episodes with a return, and aborted ones.'),
      clusters: count,
      successRate: share.nullable(),
    })
    .nullable()
    .describe(
      'The other denominator: aborted episodes counted as 0, as some harnesses do; null: there are none.',
    ),
  episodes: count.describe('The other denominator: all episodes, with and without a return.'),
  withoutReward: count.describe('Not aborted, and no reward anywhere: out of the statistics, not 0.'),
  aborted: count.describe('Out of the statistics whatever they hold.'),
  nonFinite: count.describe(
    'A reward, or the sum of rewards, is NaN, infinite or beyond 1e100 in size: out of the statistics.',
  ),
  missingTask: count.describe('Episodes without a task id.'),
});
export type RewardSummary = z.infer<typeof RewardSummary>;

/** What `turnwise describe --json` prints. */
export const Description = z.strictObject({
  store: z.string(),
  episodes: count,
  tasks: count.describe('Distinct task ids.'),
  turns: count.describe('Assistant turns.'),
  trialsPerTask: z
    .strictObject({
      min: count,
      mean: z.number(),
      max: count,
      histogram: z.array(z.strictObject({ trials: count, tasks: count })),
    })
    .nullable(),
  endings: z.strictObject({
    terminated: count,
    limit: count,
    truncated: count,
    aborted: count,
    unfinished: count,
  }),
  turnsPerEpisode: Spread.nullable(),
  tokens: z
    .strictObject({
      segments: count,
      tokens: count.describe('In the segments.'),
      actionTokens: count.describe('Sampled by the policy, by the mask; without segments, as logged.'),
      withLogprob: share.nullable().describe('Share of the sampled tokens that carry a log-probability.'),
      perTurn: Spread.nullable().describe('n_action_tokens of the turns that have it.'),
    })
    .nullable(),
  reward: RewardSummary.nullable().describe('null: no episode has a return.'),
  successHistogram: z
    .array(z.strictObject({ successes: count, tasks: count }))
    .nullable()
    .describe('Tasks by number of successes; null unless every return is 0 or 1.'),
  zeroVarianceTasks: count.describe('Tasks with two returns or more, all equal: no signal within the group.'),
  passHatK: z
    .array(share)
    .nullable()
    .describe(
      'pass^k, k = 1 … fewest trials: mean over tasks of C(successes, k) / C(trials, k). null where several policies share the store: see `policies`.',
    ),
  passHatKReason: z.string().nullable().describe('Why `passHatK` is null; null: it is not.'),
  policies: z.array(
    z.strictObject({
      policy: z.string().nullable(),
      episodes: count,
      n: count.describe('With a return.'),
      meanReward: z.number().nullable(),
      successRate: share.nullable().describe('null unless every return of the store is 0 or 1.'),
      aborted: count,
      abortedAsZero: z
        .strictObject({ n: count, meanReward: z.number(), successRate: share.nullable() })
        .nullable()
        .describe('With aborted episodes counted as 0; null: none was aborted.'),
      passHatK: z
        .array(share)
        .nullable()
        .describe('pass^k over its own trials, k = 1 … fewest trials of a task it has tried.'),
      passHatKReason: z
        .string()
        .nullable()
        .describe(
          'Why there is none, or none for a larger k that another policy or the store has trials for.',
        ),
      toolErrors: ToolErrors.nullable().describe('null: no turn.'),
    }),
  ),
  versions: z
    .array(z.strictObject({ version: z.string(), turns: count, episodes: count }))
    .describe('Of the turns, or of the episode where a turn has none; the 50 most frequent.'),
  columns: z
    .array(z.strictObject({ table: z.string(), column: z.string(), present: share }))
    .describe('Share of rows with a value; an empty list or record is none.'),
  tools: z
    .array(
      z.strictObject({
        tool: z.string(),
        calls: count,
        errors: count,
        errorRate: share
          .nullable()
          .describe('Of the calls whose outcome is known; null where successes cannot be known.'),
        errorRateAtLeast: share.describe('errors / calls: true whatever became of the unknown ones.'),
        errorUnknown: count,
      }),
    )
    .describe('The 50 most called.'),
  scores: z
    .array(z.strictObject({ policy: z.string(), episodes: count, turns: count, segments: count }))
    .describe('Other policies whose log-probabilities are in the store.'),
  sources: z.array(
    z.strictObject({
      path: z.string(),
      format: z.string(),
      sha256: z.string(),
      bytes: count,
      episodes: count,
      turns: count,
      rejects: count,
    }),
  ),
  critics: z.array(SavedCritic).describe('Whose turn values the store holds.'),
  rejects: z.strictObject({
    count,
    reasons: z.array(z.strictObject({ reason: z.string(), count })).describe('The 20 most frequent.'),
  }),
  notes: z.array(z.string()).describe('Conventions of the numbers above.'),
  warnings: z.array(Warning),
});
export type Description = z.infer<typeof Description>;
