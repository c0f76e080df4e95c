import { z } from 'zod';
import { CriticConfig } from './critic-config.ts';
import { Warning } from './warning.ts';

/** An error of predictions of the return still to come. */
export const HeldOutError = z.strictObject({
  rmse: z.number(),
  r2: z
    .number()
    .nullable()
    .describe('1 − SSE/SST about the mean of all evaluated outcomes; null where they are all equal.'),
  n: z.int().describe('Turns, or episodes at the first turn.'),
});
export type HeldOutError = z.infer<typeof HeldOutError>;

/** One tenth of the turns by predicted V. */
export const Calibration = z.strictObject({
  predicted: z.number().describe('Mean of V.'),
  observed: z.number().describe('Mean return still to come.'),
  n: z.int().describe('Turns.'),
  tasks: z.int(),
  se: z.number().nullable().describe('Of `observed`, CR1 by task.'),
});
export type Calibration = z.infer<typeof Calibration>;

/** A mean with its standard error, CR1 by task. */
export const ClusteredMean = z.strictObject({
  mean: z.number(),
  se: z
    .number()
    .nullable()
    .describe(
      'CR1 by task, given the fitted critic; null with one task and where that is no error of the mean.',
    ),
});
export type ClusteredMean = z.infer<typeof ClusteredMean>;

export const StageAdvantage = z.strictObject({
  turn: z.int().describe('From 0.'),
  pooled: z.boolean().describe('Whether its regression is shared with other turns.'),
  n: z.int().describe('Turns.'),
  tasks: z.int(),
  advantage: ClusteredMean.describe('Mean of A: about 0 for a critic of the logging policy.'),
});
export type StageAdvantage = z.infer<typeof StageAdvantage>;

/** θ: turns with an action against turns without it, of the same task at the same turn index. */
export const ActionContrast = z.strictObject({
  mean: z.number().nullable().describe('In units of the return; null where nothing can be compared.'),
  se: z.number().nullable().describe('CR2 by task.'),
  tasks: z.int().describe('Tasks whose trials differ in the action.'),
  df: z.number().nullable().describe('Of the t by which it is judged: effective number of such tasks − 1.'),
  reason: z.string().optional().describe('Why there is none.'),
});
export type ActionContrast = z.infer<typeof ActionContrast>;

export const ActionAdvantage = z.strictObject({
  action: z
    .string()
    .describe(
      '`class=…`: a declared action class; `tool=…`: a turn that calls the tool; names of the same turns, joined by a comma.',
    ),
  n: z.int().describe('Turns.'),
  tasks: z.int(),
  advantage: ClusteredMean.describe(
    'Mean of A = Q − V, shrunk towards 0 by the ridge. Without an error: one that holds the fit fixed is far too small.',
  ),
  delta: ClusteredMean.describe(
    'Mean of δ: the same in expectation, without a model of Q. Without an error, for the same reason.',
  ),
  contrast: ActionContrast.describe('What the mark rests on.'),
  mark: z
    .enum(['helpful', 'harmful'])
    .nullable()
    .describe(
      'By the contrast: beyond a two-sided 5 % limit of t over all actions that have one (Bonferroni).',
    ),
});
export type ActionAdvantage = z.infer<typeof ActionAdvantage>;

/** One pair of regressions. */
export const StageModel = z.strictObject({
  from: z.int().describe('First turn it is for, from 0.'),
  to: z.int().describe('Last one.'),
  pooled: z.boolean().describe('Several turns in one regression, with a level for each turn index.'),
  turns: z.int(),
  lambdaV: z.array(z.number()).describe('λ/n of each fold.'),
  lambdaQ: z.array(z.number()).describe('λ/n of each fold.'),
});
export type StageModel = z.infer<typeof StageModel>;

export const ExcludedEpisodes = z.strictObject({
  truncated: z.int().describe('Cut from outside.'),
  unfinished: z.int(),
  aborted: z.int().describe('Infrastructure failed.'),
  withoutReward: z.int().describe('Ended with no reward anywhere.'),
  returnNotFinite: z
    .int()
    .describe('Ended with a reward, or a sum of rewards, that is NaN, infinite or beyond 1e100 in size.'),
  withoutTurns: z.int(),
});

/** What a critic says of itself. */
export const CriticReport = z.strictObject({
  critic: z.strictObject({
    name: z.string(),
    method: z.string(),
    rmse: z.number().describe('Held out, over all turns: the same as in `heldOut`.'),
    r2: z.number().nullable().describe('Held out, over all turns.'),
    n: z.int().describe('Turns.'),
    stateFeatures: z.int(),
    actionFeatures: z.int(),
    interactions: z.string().describe('Which state columns are multiplied by the action class.'),
    folds: z.int().describe('Folds of whole tasks that were used.'),
    models: z.array(StageModel),
  }),
  heldOut: HeldOutError.extend({
    turn0: HeldOutError.describe('V before the first turn against the return.'),
    gain: z.number().describe('Mean squared error of the constant less that of the critic, over all turns.'),
    gainSe: z.number().nullable().describe('Of `gain`, CR1 by task.'),
    gainByTurn: z.number().describe('The same over the mean for each turn index, `constant.byTurn`.'),
    gainByTurnSe: z.number().nullable(),
  }).describe('V against the return still to come, on tasks its model did not see, over all turns.'),
  constant: HeldOutError.extend({
    turn0: HeldOutError,
    byTurn: HeldOutError.describe('A mean for each turn index: what the length alone tells.'),
  }).describe('The mean of the training part instead of V.'),
  placebo: HeldOutError.extend({
    turn0: HeldOutError,
    runs: z.int(),
    asGood: z.int().describe('Runs with an R² of at least the critic’s.'),
  }).describe(
    'The same pipeline on returns shuffled between tasks of a fold; mean over the runs. Its RMSE is against the shuffled outcomes: compare R².',
  ),
  label: z.strictObject({
    causal: z.string(),
    propensities: z.enum(['logged', 'partly logged', 'unknown']),
    state: z.string(),
    inference: z.string(),
  }),
  estimand: z.string(),
  convention: z.string(),
  stages: z.array(StageAdvantage),
  actions: z
    .array(ActionAdvantage)
    .describe('From the most helpful to the most harmful by contrast; one without counts as 0.'),
  calibration: z.array(Calibration).describe('Tenths of the turns by predicted V.'),
  supportedShare: z.number().describe('Share of turns with others like them in the logs.'),
  n: z.int().describe('Episodes.'),
  turns: z.int(),
  tasks: z.int().describe('An episode without a task is its own.'),
  excluded: ExcludedEpisodes,
  seed: z.int(),
  config: CriticConfig,
  warnings: z.array(Warning),
});
export type CriticReport = z.infer<typeof CriticReport>;

export const TurnCredit = z.strictObject({
  turn: z.int(),
  v: z.number().describe('V of the state before the turn.'),
  q: z.number().describe('Q of the state and the action taken.'),
  advantage: z.number().describe('Q − V.'),
  advantageSe: z
    .number()
    .nullable()
    .describe(
      'Standard error of `advantage` as a ridge prediction: s²(h_Q − h_V) + (σ_V² − σ_Q²)₊ h_V, leverages on the training part, held-out errors. null: a feature of the turn never varied there.',
    ),
  reward: z.number().describe('Paid for the turn; the episode’s own reward at its last turn.'),
  delta: z.number().describe('r + V(s′) − V(s); sums to the return less V(s₀).'),
  supported: z.boolean().describe('Whether the logs hold turns like this one.'),
  mark: z
    .enum(['helpful', 'harmful'])
    .nullable()
    .describe(
      'Where A is clear: supported, beyond a limit of its own errors that bounds false marks over all turns of the log at 5 %, and the critic passed its checks.',
    ),
});
export type TurnCredit = z.infer<typeof TurnCredit>;

export const EpisodeCredit = z.strictObject({
  episode: z.string(),
  task: z.string().nullable(),
  return: z.number(),
  turns: z.array(TurnCredit),
});
export type EpisodeCredit = z.infer<typeof EpisodeCredit>;

/** What `turnwise credit --json` prints. */
export const Credit = CriticReport.extend({ episodes: z.array(EpisodeCredit) });
export type Credit = z.infer<typeof Credit>;
