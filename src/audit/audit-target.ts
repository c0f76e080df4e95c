import { existsSync } from 'node:fs';
import { simulatedWarnings } from '../inspect/simulated.ts';
import { storeFindings } from '../inspect/verdict-findings.ts';
import { behaviourFeatures } from '../policy/behaviour-features.ts';
import { behaviourModel } from '../policy/behaviour-model.ts';
import { behaviourFromPolicyFile } from '../policy/behaviour-table.ts';
import { readPolicyFile } from '../policy/read-policy-file.ts';
import type { Audit } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import type { TrainedOn } from '../schema/trained-on.ts';
import type { Warning } from '../schema/warning.ts';
import type { Store } from '../store/store.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { withDeclaredBehaviour } from '../weights/declared-behaviour.ts';
import { labelEstimated, withEstimatedPropensities } from '../weights/estimated-propensities.ts';
import { logRatiosFromPolicyFile } from '../weights/from-policy-file.ts';
import { logRatiosFromScores, unknownTarget } from '../weights/from-scores.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { loggedMeasures } from '../weights/require-behaviour.ts';
import { actedPolicies, readSources, scoredPolicies, scoredTrainedOn } from '../weights/scores.ts';
import { withTokenLogprobs } from '../weights/token-sums.ts';
import { audit } from './audit.ts';
import { auditStore, isLarge } from './audit-store.ts';
import { detailsOf } from './details.ts';
import { modelOfActions } from './model-of-actions.ts';
import { notLookedAt } from './not-looked-at.ts';
import { trainedOnOverride } from './trained-on-override.ts';
import { auditWithoutBehaviour } from './without-behaviour.ts';

export interface AuditTargetOptions {
  /** What the target was trained on, instead of what it says itself. */
  readonly trainedOn?: TrainedOn | undefined;
  readonly config?: Partial<AuditConfig> | undefined;
  /** Propensities of the action classes from a model of the logs, instead of logged ones. */
  readonly estimatePropensities?: boolean | undefined;
  /** Path of the behaviour as a policy file, for the diagnostics that need all its probabilities. */
  readonly behaviour?: string | undefined;
  /** Only the episodes of these policies; absent: all. */
  readonly policies?: readonly string[] | undefined;
  /** Also the diagnostics that read text and tokens. */
  readonly details?: boolean | undefined;
  /** Turns above which the store is scanned rather than loaded; absent: 10 million. */
  readonly scanAbove?: number | undefined;
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
  const judged = await auditLogs(store, target, options);
  return { ...judged, warnings: [...judged.warnings, ...(await simulatedWarnings(store))] };
}

async function auditLogs(store: Store, target: string, options: AuditTargetOptions): Promise<Audit> {
  const { estimatePropensities, behaviour, policies, details } = options;
  const needsTurns = estimatePropensities || behaviour !== undefined || policies?.length || details;
  if (!needsTurns && (await isLarge(store, options.scanAbove))) return scanned(store, target, options);
  const t = await withTokenLogprobs(store, await loadTrajectories(store, { policies: options.policies }));
  const ratios = await ratiosOrRefusal(store, t, target, options);
  if ('verdict' in ratios) return ratios;
  const findings = await storeFindings(store);
  const model = await modelOfActions(store, ratios);
  return audit(ratios, options.config, {
    findings,
    model,
    ...(options.details ? await detailsOf(store, ratios) : {}),
  });
}

async function scanned(store: Store, target: string, options: AuditTargetOptions): Promise<Audit> {
  const [result] = await auditStore(store, [target], options);
  const message =
    'the store is large and was scanned, not loaded: detailed diagnostics, fitted Q-values and bootstrap intervals are left out';
  return { ...result!, warnings: [...result!.warnings, { code: 'scanned', message }] };
}

/** Log-ratios of a target on loaded logs, or the audit that refuses it for what the logs lack. */
export async function ratiosOrRefusal(
  store: Store,
  t: Trajectories,
  target: string,
  options: AuditTargetOptions = {},
): Promise<LogRatios | Audit> {
  const { trainedOn, config = {}, estimatePropensities, behaviour } = options;
  if (estimatePropensities) {
    const model = behaviourModel(t, await behaviourFeatures(store, t), { seed: config.seed ?? 0 });
    const ratios = await ratiosOrRefusal(store, withEstimatedPropensities(t, model), target, {
      trainedOn,
      config,
    });
    return 'verdict' in ratios ? ratios : labelEstimated(ratios, model);
  }
  if (behaviour !== undefined) {
    const ratios = await ratiosOrRefusal(store, t, target, { trainedOn, config });
    if ('verdict' in ratios) return ratios;
    return withDeclaredBehaviour(ratios, behaviourFromPolicyFile(t, readPolicyFile(behaviour)));
  }
  const measures = loggedMeasures(t).map((m) => m.measure);
  if (measures.length === 0) return notLookedAt(store, t, target, config);
  if (!(await isFile(store, target))) {
    const ratios = await logRatiosFromScores(store, t, target, trainedOn);
    return trainedOn === undefined
      ? ratios
      : withWarnings(ratios, trainedOnOverride(trainedOn, await scoredTrainedOn(store, target)));
  }
  const file = readPolicyFile(target);
  if (!measures.includes('log_propensity'))
    return auditWithoutBehaviour(t, file.policy, config, 'log_propensity');
  const policy = trainedOn === undefined ? file : { ...file, trained_on: trainedOn };
  const ratios = logRatiosFromPolicyFile(t, policy, await readSources(store));
  return withWarnings(ratios, trainedOnOverride(trainedOn, file.trained_on));
}

const withWarnings = (ratios: LogRatios, warnings: readonly Warning[]): LogRatios => ({
  ...ratios,
  warnings: [...ratios.warnings, ...warnings],
});

/** A recorded name first, then a file; anything else is unknown. */
async function isFile(store: Store, target: string): Promise<boolean> {
  const recorded = await scoredPolicies(store);
  if (recorded.includes(target)) return false;
  if (existsSync(target)) return true;
  throw unknownTarget(target, recorded, await actedPolicies(store));
}
