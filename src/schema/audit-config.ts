import { z } from 'zod';
import { EvaluationConfig } from './evaluation.ts';

/** Thresholds of the verdict; each says why it stands where it does. */
export const AuditConfig = EvaluationConfig.extend({
  minTasks: z
    .int()
    .min(2)
    .default(5)
    .describe(
      'Refused below. A standard error from fewer than five tasks rests on at most three degrees of freedom: its t interval is wider than three standard errors and covers badly when tasks differ in size.',
    ),
  minEss: z
    .number()
    .min(1)
    .default(30)
    .describe(
      'Refused below, of the carried-forward weights at the last turn. The effective sample size is itself estimated, and flatters when the largest weights have not been drawn yet: in simulation a target whose true value is 19 shows 10 to 70. Below 30 the t interval of so skewed a mean covers noticeably less than it says.',
    ),
  minTurnEss: z
    .number()
    .min(0)
    .default(15)
    .describe(
      'Refused below, among the episodes alive at a turn that the target reaches often. An overall sample size hides that all long episodes of the target are stood for by a handful.',
    ),
  weakTurnEss: z
    .number()
    .min(0)
    .default(50)
    .describe(
      'Weak below. At 30, one in forty sets of logs far from the target (true ESS share .05) passes, those by luck without a heavy weight, and their intervals cover 71 to 92 %; at 50 none of a thousand does (npm run bench coverage).',
    ),
  turnShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      'A turn counts as reached often from this estimated share of the target’s episodes on: what happens in rarer ones moves the value by at most this share of the return range.',
    ),
  minTaskEss: z
    .number()
    .min(1)
    .default(5)
    .describe('Refused below. As minTasks, counted in tasks that carry weight.'),
  weakTaskEss: z
    .number()
    .min(1)
    .default(30)
    .describe(
      'Weak below. The normal approximation of a skewed mean is usually granted from about 30 values.',
    ),
  weakEssShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      'Weak below this share of the episodes: 95 % of the rollouts then say next to nothing of the target.',
    ),
  meanWeightZ: z
    .number()
    .min(0)
    .default(3)
    .describe(
      'Refused beyond. The mean weight is 1 when propensities are right and support is complete. In standard errors after Hall’s transformation, since weights are skewed: right logs are refused in about 0.3 % of audits, without it in up to 7 %.',
    ),
  propensityAlpha: z
    .number()
    .gt(0)
    .max(0.05)
    .default(0.01)
    .describe(
      'Refused where the logged actions are less likely than this under the logged propensities, whatever the target: an e-value by cell of the state (turn, last action, rule, feature, task) beyond its inverse, so that right propensities are refused in at most this share of audits.',
    ),
  maxUnsupported: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      'Refused beyond: the target goes where the logs never went with this probability, so its value is open by that share of the return range.',
    ),
  weakUnsupported: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('Weak beyond. Any unsupported mass is a bias that no standard error shows.'),
  weakOpen: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe(
      'Weak beyond: the upper 95 % limit of the chance that the target leaves the logs in cells too small to tell, from the mean weight; the value may be off by that share of the return range.',
    ),
  weakTaskRules: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe(
      'Weak beyond this share of the target’s turns under rules that name tasks, or in cells of one logged task each, unless `trained_on` lists what it was trained on: rules chosen on these very logs look better than they are, and nothing else shows it.',
    ),
  weakLargestShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe('Weak beyond: one rollout then carries a tenth of the answer.'),
  weakMissing: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      'Weak beyond this share of the target’s weight on episodes without a return, aborted ones aside. A failure that nobody scored is missing for how it went: the value is then open by that share of the return range, and no standard error shows it.',
    ),
  maxMissing: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe(
      'Refused beyond: with a fifth of the outcomes unknown the value is open by a fifth of the return range, more than most comparisons are about.',
    ),
  weakHidden: z
    .number()
    .min(0)
    .default(0.2)
    .describe(
      'Weak where the bias that returns which are missing or cut short can make, their share of the target’s weight times the return range, is more than this share of the half-width of the interval: at a fifth a 95 % interval still covers 93 %.',
    ),
  weakAborted: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe(
      'Weak beyond this share of aborted episodes, never refused: infrastructure fails for reasons of its own, but more often on long rollouts, and a fifth lost may tilt the rest.',
    ),
  weakCutShort: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      'Weak beyond this share of the target’s weight on episodes cut short from outside: what they would still have earned is missing from the value.',
    ),
  maxCutShort: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe(
      'Refused beyond this share of the target’s weight: the value is then open by that share of the return range.',
    ),
  weakEvents: z
    .number()
    .min(0)
    .default(25)
    .describe(
      'Weak below. Cochran’s rule (1977, on the validity of the normal approximation): with fewer tasks than 25 times the squared skewness g₁ (of the population, m₃/m₂^{3/2}), a 95 % interval by t misses in more than 6 % of samples. It sees what no weight shows: outcomes that are rare.',
    ),
  weakTailIndex: z
    .number()
    .default(0.7)
    .describe(
      'Weak beyond min(1 − 1/log₁₀ n, this), for weights and for weights times returns. From 0.7 on the convergence of a weighted mean is too slow for its standard error (Vehtari et al. 2024).',
    ),
});
export type AuditConfig = z.infer<typeof AuditConfig>;
