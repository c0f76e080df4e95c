import { type DiagnoseOptions, diagnose } from '../diagnostics/diagnose.ts';
import type { ModelEvidence } from '../diagnostics/model-evidence.ts';
import { propensitySums } from '../diagnostics/propensity-turns.ts';
import { stageTable } from '../diagnostics/stages.ts';
import { unsupportedMass } from '../diagnostics/unsupported-mass.ts';
import { weightSummary } from '../diagnostics/weight-summary.ts';
import { auditFindings, type StoreFindings } from '../inspect/verdict-findings.ts';
import type { Audit, Reason, Stage, Verdict } from '../schema/audit.ts';
import { AuditConfig } from '../schema/audit-config.ts';
import type { BehaviourCoverage } from '../schema/behaviour-coverage.ts';
import { EvaluationConfig } from '../schema/evaluation.ts';
import { parseConfig } from '../schema/parse-config.ts';
import { evaluate } from '../value/evaluate.ts';
import { behaviourCoverage } from '../weights/behaviour-coverage.ts';
import { type EpisodeWeights, episodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { countedWords } from '../weights/words.ts';
import { actingPolicies, behaviourMix } from './behaviour-mix.ts';
import { permitIntervals } from './permit-intervals.ts';
import { type Evidence, reasonsAgainst } from './reasons.ts';
import { whatNext } from './what-next.ts';

export interface AuditOptions extends DiagnoseOptions {
  /** What `check` finds in the store the logs were loaded from, by `storeFindings`. */
  readonly findings?: StoreFindings | undefined;
  /** The propensities against a model of the actions, by `modelOfActions`. */
  readonly model?: ModelEvidence | null | undefined;
}

/**
 * Whether the logs cover a target well enough to say what it is worth: supported, weak or refused,
 * with reasons, turn by turn. Where refused the evaluation keeps its bounds and loses its intervals.
 * O(turns + n log n).
 */
export function audit(
  ratios: LogRatios,
  config: Partial<AuditConfig> = {},
  options: AuditOptions = {},
): Audit {
  const settings = parseConfig(AuditConfig, config, 'audit settings');
  const w = episodeWeights(ratios, settings.discount);
  if (w.n === 0) return nothingLeft(ratios, settings);
  const { findings, model = null, ...details } = options;
  const evidence: Evidence = {
    ...evidenceOf(ratios, w, settings),
    model,
    ...(findings && { findings: auditFindings(findings, ratios.measure) }),
  };
  const { evaluation } = evidence;
  const reasons = reasonsAgainst(evidence, settings);
  const verdict = verdictOf(reasons);
  return {
    target: ratios.target,
    trainedOn: ratios.trainedOn,
    verdict,
    reasons,
    findings: [...(evidence.findings ?? [])],
    next: whatNext(reasons, evidence, settings),
    usableHorizon: usableHorizon(evidence.stages, settings),
    stages: [...evidence.stages],
    weights: evidence.weights,
    unsupported: evidence.unsupported,
    evaluation: permitIntervals(evaluation, verdict),
    diagnostics: diagnose(ratios, w, { range: settings.range, ...details }),
    behaviour: behaviourCoverage(ratios.trajectories),
    warnings: [...evaluation.warnings, ...behaviourMix(actingPolicies(ratios.trajectories))],
    config: settings,
  };
}

/** What a verdict rests on, of loaded logs. O(turns + n log n). */
export function evidenceOf(ratios: LogRatios, w: EpisodeWeights, settings: AuditConfig): Evidence {
  const unsupported = unsupportedMass(ratios, w);
  return {
    ratios,
    evaluation: evaluate(ratios, evaluationConfig(settings), w),
    stages: stageTable(w, unsupported.byTurn),
    weights: weightSummary(w),
    unsupported: unsupported.summary,
    taskRules: unsupported.taskRules,
    propensities: propensitySums(ratios, w),
    actionClasses: w.trajectories.turns.actionClass.values,
  };
}

/** The worst reason decides. */
export function verdictOf(reasons: readonly Reason[]): Verdict {
  if (reasons.some((r) => r.verdict === 'refused')) return 'refused';
  return reasons.length > 0 ? 'weak' : 'supported';
}

export function usableHorizon(
  stages: readonly Stage[],
  { minEss, minTurnEss, turnShare }: AuditConfig,
): number {
  const short = stages.findIndex(
    (s) => s.essCarried < minEss || ((s.targetShare ?? 0) >= turnShare && s.essAlive < minTurnEss),
  );
  return short < 0 ? stages.length : short;
}

/** What of an audit's settings an evaluation takes. */
export function evaluationConfig(c: AuditConfig): EvaluationConfig {
  const { level, discount, range, interval, replicates, seed, maxWeight } = c;
  return parseConfig(
    EvaluationConfig,
    { level, discount, range, interval, replicates, seed, maxWeight },
    'evaluation settings',
  );
}

export function nothingLeft(
  ratios: LogRatios,
  config: AuditConfig,
  behaviour: BehaviourCoverage = behaviourCoverage(ratios.trajectories),
): Audit {
  const { episodes, tasks } = ratios.held;
  const trained = episodes > 0;
  return {
    target: ratios.target,
    trainedOn: ratios.trainedOn,
    verdict: 'refused',
    reasons: [
      {
        code: trained ? 'trained-on-these-logs' : 'no-episodes',
        verdict: 'refused',
        message: trained
          ? `the target was trained on every task of these logs (${countedWords(tasks, 'task')}, ${countedWords(episodes, 'episode')}): nothing is left to evaluate it on`
          : 'the logs hold no episode with a return',
        value: 0,
        threshold: trained ? config.minTasks : 1,
      },
    ],
    findings: [],
    next: [
      trained
        ? 'Log episodes of tasks the target was not trained on.'
        : 'Log the reward of finished episodes.',
    ],
    usableHorizon: null,
    stages: [],
    weights: null,
    unsupported: null,
    evaluation: null,
    behaviour,
    warnings: [...ratios.warnings],
    config,
  };
}
