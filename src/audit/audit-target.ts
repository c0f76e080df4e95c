import { existsSync } from 'node:fs';
import { readPolicyFile } from '../policy/read-policy-file.ts';
import type { Audit } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import type { TrainedOn } from '../schema/trained-on.ts';
import type { Store } from '../store/store.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../weights/from-policy-file.ts';
import { logRatiosFromScores, unknownTarget } from '../weights/from-scores.ts';
import { loggedMeasures } from '../weights/require-behaviour.ts';
import { readSources, scoredPolicies } from '../weights/scores.ts';
import { withTokenLogprobs } from '../weights/token-sums.ts';
import { audit } from './audit.ts';
import { auditWithoutBehaviour } from './without-behaviour.ts';

export interface AuditTargetOptions {
  /** What the target was trained on, instead of what it says itself. */
  readonly trainedOn?: TrainedOn | undefined;
  readonly config?: Partial<AuditConfig> | undefined;
}

/**
 * Audits a target by name: a policy with recorded scores, else the path of a policy file. The logs are
 * looked at first: without behaviour log-probabilities they refuse whatever the target.
 * @throws a usage error (2) where the target is neither
 */
export async function auditTarget(
  store: Store,
  target: string,
  options: AuditTargetOptions = {},
): Promise<Audit> {
  const { trainedOn, config = {} } = options;
  const t = await withTokenLogprobs(store, await loadTrajectories(store));
  const measures = loggedMeasures(t).map((m) => m.measure);
  if (measures.length === 0) return auditWithoutBehaviour(t, target, config);
  if (!(await isFile(store, target)))
    return audit(await logRatiosFromScores(store, t, target, trainedOn), config);
  const file = readPolicyFile(target);
  if (!measures.includes('log_propensity'))
    return auditWithoutBehaviour(t, file.policy, config, 'log_propensity');
  const policy = trainedOn === undefined ? file : { ...file, trained_on: trainedOn };
  return audit(logRatiosFromPolicyFile(t, policy, await readSources(store)), config);
}

/** A recorded name first, then a file; anything else is unknown. */
async function isFile(store: Store, target: string): Promise<boolean> {
  const recorded = await scoredPolicies(store);
  if (recorded.includes(target)) return false;
  if (existsSync(target)) return true;
  throw unknownTarget(target, recorded);
}
