import type { Audit } from '../schema/audit.ts';
import { AuditConfig } from '../schema/audit-config.ts';
import type { BehaviourCoverage } from '../schema/behaviour-coverage.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { behaviourCoverage, percent, whatToLog } from '../weights/behaviour-coverage.ts';

/**
 * The audit of any target on logs that do not say with what probability they acted.
 * @param needs the measure that this target needs, where the logs have another
 */
export function auditWithoutBehaviour(
  t: Trajectories,
  target: string,
  config: Partial<AuditConfig> = {},
  needs?: 'log_propensity',
): Audit {
  return refusedForBehaviour(behaviourCoverage(t), target, config, needs);
}

/** The same from what is known of the logs. */
export function refusedForBehaviour(
  behaviour: BehaviourCoverage,
  target: string,
  config: Partial<AuditConfig> = {},
  needs?: 'log_propensity',
): Audit {
  const { behaviourLogPropensity, behaviourLogprob } = behaviour;
  const best = needs ? behaviourLogPropensity : Math.max(behaviourLogPropensity, behaviourLogprob);
  return {
    target,
    trainedOn: null,
    verdict: 'refused',
    reasons: [
      {
        code: 'no-behaviour',
        verdict: 'refused',
        message:
          behaviour.turns === 0
            ? 'the logs hold no turn of an episode with a return'
            : needs
              ? `the logs hold behaviour_log_propensity on ${percent(best)} of turns, and a policy over declared action classes needs it on all`
              : `the logs hold the behaviour policy’s log-probabilities on ${percent(best)} of turns, so no target can be evaluated on them, whatever it is`,
        value: best,
        threshold: 1,
      },
    ],
    next: whatToLog(behaviour),
    usableHorizon: null,
    stages: [],
    weights: null,
    unsupported: null,
    evaluation: null,
    behaviour,
    warnings: [],
    config: AuditConfig.parse(config),
  };
}
