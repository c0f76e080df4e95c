import type { Audit } from '../schema/audit.ts';
import { AuditConfig } from '../schema/audit-config.ts';
import type { BehaviourCoverage } from '../schema/behaviour-coverage.ts';
import { ENDINGS } from '../schema/episode.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { Warning } from '../schema/warning.ts';
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
  const behaviour = behaviourCoverage(t);
  return refusedForBehaviour(behaviour, target, config, needs, returnsLeft(t, behaviour.episodes));
}

/** The same from what is known of the logs. */
export function refusedForBehaviour(
  behaviour: BehaviourCoverage,
  target: string,
  config: Partial<AuditConfig> = {},
  needs?: 'log_propensity',
  left: ReturnsLeft = { aborted: 0, withoutReward: 0 },
): Audit {
  if (behaviour.episodes === 0) return withoutReturns(behaviour, target, config, left);
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
            ? 'the episodes of the logs that have a return have no turns'
            : needs
              ? `the logs hold behaviour_log_propensity on ${percent(best)} of turns, and a policy over declared action classes needs it on all`
              : `the logs hold the behaviour policy’s log-probabilities on ${percent(best)} of turns, so no target can be evaluated on them, whatever it is`,
        value: best,
        threshold: 1,
      },
    ],
    findings: [],
    next: whatToLog(behaviour),
    usableHorizon: null,
    stages: [],
    weights: null,
    unsupported: null,
    evaluation: null,
    behaviour,
    warnings: needs ? [] : [NOT_LOOKED_AT],
    config: parseConfig(AuditConfig, config, 'audit settings'),
  };
}

const NOT_LOOKED_AT: Warning = {
  code: 'target-not-looked-at',
  message: 'the target was not looked at: the logs are refused whatever it is',
};

/** Why episodes have no return. */
interface ReturnsLeft {
  readonly aborted: number;
  readonly withoutReward: number;
}

/** @param defined episodes with a return */
export function returnsLeft({ index, episodes }: Trajectories, defined: number): ReturnsLeft {
  const aborted = index.reduce((n, e) => (ENDINGS[episodes.ending[e]!] === 'aborted' ? n + 1 : n), 0);
  return { aborted, withoutReward: index.length - aborted - defined };
}

/** What was logged of the turns does not matter where no episode says how it went. */
function withoutReturns(
  behaviour: BehaviourCoverage,
  target: string,
  config: Partial<AuditConfig>,
  { aborted, withoutReward }: ReturnsLeft,
): Audit {
  const none = aborted + withoutReward === 0;
  return {
    target,
    trainedOn: null,
    verdict: 'refused',
    reasons: [
      {
        code: 'no-episodes',
        verdict: 'refused',
        message: none
          ? 'the logs hold no episode'
          : `no episode with a return is left (aborted ${aborted}, without reward ${withoutReward})`,
        value: 0,
        threshold: 1,
      },
    ],
    findings: [],
    next: [
      none
        ? 'Log episodes.'
        : withoutReward > 0
          ? 'Log the reward of finished episodes.'
          : 'Log episodes that are not aborted: an aborted rollout says nothing of a policy’s value.',
    ],
    usableHorizon: null,
    stages: [],
    weights: null,
    unsupported: null,
    evaluation: null,
    behaviour,
    warnings: [NOT_LOOKED_AT],
    config: parseConfig(AuditConfig, config, 'audit settings'),
  };
}
