import { z } from 'zod';

const share = z.number().min(0).max(1);

/** What the logs hold of the behaviour policy: on what share of the turns. */
export const BehaviourCoverage = z.strictObject({
  episodes: z.int().describe('Episodes with a return.'),
  turns: z.int().describe('Their turns.'),
  behaviourLogPropensity: share.describe('Turns with log b of the declared action class.'),
  behaviourLogprob: share.describe('Turns with Σ log b over the action tokens.'),
  actionClass: share.describe('Turns with a declared action class.'),
  sampling: share.describe('Turns with a temperature.'),
  logprobKind: share.describe('Turns that say raw or processed.'),
  version: share.describe('Turns with a policy version.'),
  task: share.describe('Episodes with a task id.'),
});
export type BehaviourCoverage = z.infer<typeof BehaviourCoverage>;
