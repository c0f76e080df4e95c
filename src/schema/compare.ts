import { z } from 'zod';
import { Interval } from './estimate.ts';
import { ToolErrors } from './tool-errors.ts';
import { Warning } from './warning.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const p = share.nullable().describe('Two-sided p; null: no task differs.');

export const OutcomeName = z.enum(['success', 'return', 'turns', 'cost', 'latency', 'tool-errors']);
export type OutcomeName = z.infer<typeof OutcomeName>;

export const CompareConfig = z.strictObject({
  outcomes: z
    .array(OutcomeName)
    .default([])
    .describe('What is compared, the primary one first; empty: every outcome the logs hold.'),
  level: z
    .number()
    .gt(0.5)
    .lt(1)
    .default(0.95)
    .describe('Of the intervals; 1 − level is the level of the tests.'),
  power: z.number().gt(0.05).lt(1).default(0.8).describe('What counts as seeing a difference.'),
  difference: z
    .number()
    .gt(0)
    .nullable()
    .default(null)
    .describe(
      'The difference in the primary outcome that the power is about; null: 0.05 of success, 5 % of the mean of A otherwise.',
    ),
  minTasks: z.int().min(2).default(5).describe('Fewer common tasks than this: no interval over new tasks.'),
  seed: z.int().default(0).describe('Of the random flips of the sign-flip test; nothing else is random.'),
});
export type CompareConfig = z.infer<typeof CompareConfig>;
export type CompareConfigInput = z.input<typeof CompareConfig>;

/** One side of a comparison. */
export const ComparedPolicy = z.strictObject({
  selector: z.string().describe('As asked for.'),
  policies: z.array(z.string().nullable()).describe('Policy names among its episodes, at most 20.'),
  versions: z.array(z.string()).describe('Policy versions at the first token, at most 20.'),
  sources: z.array(z.string()).describe('Files its episodes came from, at most 20.'),
  episodes: count,
  aborted: count.describe('Infrastructure failed: out of every outcome.'),
  cutShort: count.describe('Truncated or unfinished: they count with what was logged.'),
  withoutTask: count.describe('Not aborted and without a task id: cannot be paired.'),
  tasks: count.describe('With an episode that was not aborted.'),
  toolErrors: ToolErrors.describe('Of all tool calls of its episodes that were not aborted.'),
});
export type ComparedPolicy = z.infer<typeof ComparedPolicy>;

/** One outcome under one policy. */
export const PolicyOutcome = z.strictObject({
  mean: z.number().describe('Over its n episodes, paired or not.'),
  se: z.number().nullable().describe('Of that mean: clustered by task, CR1.'),
  n: count.describe('Episodes with the outcome.'),
  clusters: count.describe('Tasks among the n; an episode without a task is its own cluster.'),
  missing: count.describe('Not aborted, and the log does not say.'),
  invalid: count.describe(
    'NaN, infinite, beyond 1e100 in size, or an episode that ended before it began: left out.',
  ),
  pairedMean: z.number().describe('Mean of the task means over the common tasks: each task once.'),
  pairedTrials: z.number().describe('Trials per common task, harmonic mean.'),
});
export type PolicyOutcome = z.infer<typeof PolicyOutcome>;

export const PairedDifference = z.strictObject({
  value: z.number().describe('d̄: mean over the common tasks of B minus A.'),
  se: z.number().nullable().describe('sd(d) / √K.'),
  interval: Interval.nullable().describe('d̄ ± t(K − 1) · se; null: too few tasks, or no spread.'),
  simultaneous: Interval.nullable().describe('The same at the Bonferroni level of the family.'),
  estimand: z.string(),
  theseTasks: z
    .strictObject({ estimand: z.string(), se: z.number(), interval: Interval.nullable() })
    .nullable()
    .describe(
      'The second estimand: from the spread within tasks alone; null unless each task has two trials a policy.',
    ),
});
export type PairedDifference = z.infer<typeof PairedDifference>;

/** Tests over tasks; ties are dropped from all three but the sign-flip test. */
export const TaskTests = z.strictObject({
  wins: count.describe('Tasks on which B does better.'),
  ties: count,
  losses: count,
  sign: p.describe('Exact binomial test of wins against losses; null: only ties.'),
  wilcoxon: z.strictObject({ p, method: z.string() }).describe('Signed ranks of the differences by task.'),
  signFlip: z
    .strictObject({ p, method: z.string() })
    .describe('Of the mean difference, under a random exchange of A and B on each task.'),
});
export type TaskTests = z.infer<typeof TaskTests>;

export const WinRate = z.strictObject({
  value: share.describe(
    'P(a trial of B does better than one of A on the same task) + ½ P(equal), each task once.',
  ),
  se: z.number().nullable().describe('Clustered by task.'),
  interval: Interval.nullable().describe('t(K − 1), cut at 0 and 1.'),
});
export type WinRate = z.infer<typeof WinRate>;

/** What only a 0/1 outcome has. */
export const SuccessTable = z.strictObject({
  pairs: z
    .strictObject({ both: share, onlyA: share, onlyB: share, neither: share })
    .describe(
      'Shares of the pairs (trial of A, trial of B) on a task, each task once: the table of McNemar.',
    ),
  passHatK: z
    .array(
      z.strictObject({
        k: z.int().min(1),
        tasks: count.describe('Common tasks with k trials or more of both.'),
        a: share,
        b: share,
        difference: z.number(),
        se: z.number().nullable(),
        interval: Interval.nullable(),
      }),
    )
    .describe('All of k trials succeed, C(c, k)/C(n, k), on the tasks that have k trials of both.'),
});
export type SuccessTable = z.infer<typeof SuccessTable>;

export const ComparePower = z.strictObject({
  detectable: z.number().describe('Smallest true difference this design sees with the power asked for.'),
  difference: z.number().nullable().describe('The difference the next three are about.'),
  power: share.nullable().describe('Probability that this design sees it.'),
  tasksNeeded: z.int().nullable().describe('At the same trials per task; null: beyond 10⁹.'),
  trialsNeeded: z
    .strictObject({ a: z.int().min(1), b: z.int().min(1) })
    .nullable()
    .describe(
      'Per task, at the same tasks and the same ratio of trials; null: no number of trials is enough.',
    ),
  variance: z
    .strictObject({
      task: z.number().describe('S²: variance over tasks of the difference of a task.'),
      within: z.number().describe('Of it, from the trials: mean over tasks of s²_A/n_A + s²_B/n_B.'),
      between: z.number().describe('max(0, S² − within): how far the true differences of the tasks differ.'),
    })
    .nullable()
    .describe('Method of moments; null: no task has two trials of both.'),
  floor: z
    .number()
    .nullable()
    .describe(
      'Smallest difference that any number of trials on these tasks can see; null where the split is not known.',
    ),
  method: z.string(),
});
export type ComparePower = z.infer<typeof ComparePower>;

export const TaskDifference = z.strictObject({
  task: z.string(),
  a: z.number(),
  b: z.number(),
  trialsA: count,
  trialsB: count,
});
export type TaskDifference = z.infer<typeof TaskDifference>;

export const OutcomeComparison = z.strictObject({
  outcome: OutcomeName,
  unit: z.string(),
  better: z.enum(['higher', 'lower']).describe('Which way a win goes; differences are always B − A.'),
  tasks: count.describe('K: tasks with the outcome under both policies.'),
  a: PolicyOutcome,
  b: PolicyOutcome,
  difference: PairedDifference,
  tests: TaskTests,
  winRate: WinRate,
  success: SuccessTable.nullable(),
  power: ComparePower.nullable().describe('null: too few tasks, or no spread.'),
  largest: z
    .strictObject({ gains: z.array(TaskDifference), losses: z.array(TaskDifference) })
    .describe(
      'Tasks on which B does better and worse by most, at most five each. The largest of noisy numbers are partly noise.',
    ),
});
export type OutcomeComparison = z.infer<typeof OutcomeComparison>;

/** The reward once more, with the other denominator. */
export const AbortedAsZero = z.strictObject({
  outcome: OutcomeName.describe('success or return.'),
  tasks: count.describe('Tasks with the outcome under both policies.'),
  a: PolicyOutcome,
  b: PolicyOutcome,
  difference: PairedDifference,
});
export type AbortedAsZero = z.infer<typeof AbortedAsZero>;

/** What `turnwise compare --json` prints. */
export const Comparison = z.strictObject({
  store: z.string(),
  a: ComparedPolicy,
  b: ComparedPolicy,
  tasks: z.strictObject({ common: count, onlyA: count, onlyB: count }),
  ambiguousTasks: count.describe('Task ids that come with different instructions: not paired.'),
  primary: OutcomeName,
  family: z.strictObject({
    size: z.int().min(1).describe('Outcomes compared.'),
    level: z.number().describe('Of each simultaneous interval: 1 − (1 − level)/size.'),
    note: z.string(),
  }),
  outcomes: z.array(OutcomeComparison).min(1).describe('The primary one first.'),
  abortedAsZero: AbortedAsZero.nullable().describe(
    'The reward with aborted episodes counted as 0, where `outcomes` leave them out; null: none was aborted, or the reward is not compared.',
  ),
  absent: z
    .array(z.strictObject({ outcome: OutcomeName, reason: z.string() }))
    .describe('Not compared, and why.'),
  config: CompareConfig,
  notes: z.array(z.string()),
  warnings: z.array(Warning),
});
export type Comparison = z.infer<typeof Comparison>;
