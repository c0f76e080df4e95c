import { unsupportedOfCells } from '../diagnostics/unsupported-cells.ts';
import { weightSummary } from '../diagnostics/weight-summary.ts';
import type { Audit } from '../schema/audit.ts';
import { AuditConfig } from '../schema/audit-config.ts';
import type { TrainedOn } from '../schema/trained-on.ts';
import type { Warning } from '../schema/warning.ts';
import type { Store } from '../store/store.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { scanTargets } from '../value/stream/scan-targets.ts';
import { scannedTarget } from '../value/stream/scanned.ts';
import { streamEvaluation } from '../value/stream/stream-evaluation.ts';
import { streamStages } from '../value/stream/stream-stages.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { episodeList } from '../weights/stream/episode-list.ts';
import { coverageOf, storeCoverage, turnTable, wholeCoverage } from '../weights/stream/store-coverage.ts';
import { type NamedTarget, namedTargets } from '../weights/stream/target-plans.ts';
import { evaluationConfig, nothingLeft, usableHorizon, verdictOf } from './audit.ts';
import { permitIntervals } from './permit-intervals.ts';
import { type Evidence, reasonsAgainst } from './reasons.ts';
import { whatNext } from './what-next.ts';
import { refusedForBehaviour } from './without-behaviour.ts';

export interface AuditStoreOptions {
  /** What the targets were trained on, instead of what they say themselves. */
  readonly trainedOn?: TrainedOn | undefined;
  readonly config?: Partial<AuditConfig> | undefined;
  /** Threads that scan; absent: one a core, none for small stores and stores in memory. */
  readonly threads?: number | undefined;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * Audits targets by name without loading the turns: two scans of the store for all of them, on threads. The
 * same records as `audit`, but for what needs the turns in memory: the detailed diagnostics, fitted Q-values
 * and bootstrap intervals, which are left out. O(turns) time; memory O(targets · (episodes + stages · √n) + tasks).
 */
export async function auditStore(
  store: Store,
  targets: readonly string[],
  options: AuditStoreOptions = {},
): Promise<Audit[]> {
  const settings = AuditConfig.parse(options.config ?? {});
  const table = await turnTable(store);
  const coverage = await storeCoverage(store, table);
  const list = await episodeList(store);
  const whole = wholeCoverage(coverage);
  const named = await namedTargets(store, list, targets, coverage, options.trainedOn);
  const found = await scanTargets(store, list, table, named, { discount: settings.discount, ...options });
  return named.map((target, p) => {
    const scan = found[p];
    if (scan === null || scan === undefined) {
      const needs = target.kind === 'file' && whole.behaviourLogprob === 1 ? 'log_propensity' : undefined;
      return refusedForBehaviour(whole, target.name, options.config, needs);
    }
    return auditOf(list, target, scan, settings);
  });
}

function auditOf(
  list: Trajectories,
  target: NamedTarget,
  found: NonNullable<Awaited<ReturnType<typeof scanTargets>>[number]>,
  settings: AuditConfig,
): Audit {
  const { state, candidate, rows, place, terms, noticed } = found;
  const { held, plan } = candidate;
  const warnings: Warning[] = [...candidate.warnings, ...held.warnings, ...noticed];
  const ratios: LogRatios = {
    target: target.name,
    measure: plan.measure,
    trainedOn: target.trainedOn,
    trajectories: held.trajectories,
    values: new Float64Array(0),
    held: { episodes: held.episodes, tasks: held.tasks, known: held.known },
    warnings,
    table: null,
  };
  const behaviour = coverageOf(state.flags, state.withTask);
  if (terms === null) return nothingLeft(ratios, settings, behaviour);
  const scanned = scannedTarget(list, rows, place, state, terms, settings.discount);
  const evaluation = streamEvaluation(ratios, scanned, evaluationConfig(settings));
  const unsupported = unsupportedOfCells(plan, state.cells, state.stages.episodes, state.stages.stages);
  const evidence: Evidence = {
    ratios,
    evaluation,
    stages: streamStages(state, scanned.sums, unsupported.byTurn),
    weights: weightSummary(scanned.weights),
    unsupported: unsupported.summary,
  };
  const reasons = reasonsAgainst(evidence, settings);
  const verdict = verdictOf(reasons);
  return {
    target: target.name,
    trainedOn: target.trainedOn,
    verdict,
    reasons,
    next: whatNext(reasons, evidence, settings),
    usableHorizon: usableHorizon(evidence.stages, settings),
    stages: [...evidence.stages],
    weights: evidence.weights,
    unsupported: evidence.unsupported,
    evaluation: permitIntervals(evaluation, verdict),
    behaviour,
    warnings: evaluation.warnings,
    config: settings,
  };
}
