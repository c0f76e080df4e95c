import type { ModelEvidence } from '../diagnostics/model-evidence.ts';
import { unsupportedOfCells } from '../diagnostics/unsupported-cells.ts';
import { weightSummary } from '../diagnostics/weight-summary.ts';
import { auditFindings, type StoreFindings, storeFindings } from '../inspect/verdict-findings.ts';
import { classesNotLogged } from '../policy/classes-not-logged.ts';
import { unmatchedRules } from '../policy/rules-unmatched.ts';
import type { Audit } from '../schema/audit.ts';
import { AuditConfig } from '../schema/audit-config.ts';
import { TurnwiseError } from '../schema/error.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { TrainedOn } from '../schema/trained-on.ts';
import type { Warning } from '../schema/warning.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { unusableReturnsIn } from '../trajectories/unusable-returns.ts';
import { type ScannedTarget, scanTargets } from '../value/stream/scan-targets.ts';
import { scannedTarget } from '../value/stream/scanned.ts';
import { streamEvaluation } from '../value/stream/stream-evaluation.ts';
import { streamStages } from '../value/stream/stream-stages.ts';
import { abortedRewardsIn } from '../weights/aborted-rewards.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { actedPolicies } from '../weights/scores.ts';
import { episodeList } from '../weights/stream/episode-list.ts';
import { loggedClasses, type TargetPlan } from '../weights/stream/plan.ts';
import {
  coverageOf,
  sourcesWithout,
  storeCoverage,
  turnTable,
  wholeCoverage,
} from '../weights/stream/store-coverage.ts';
import { type NamedTarget, namedTargets } from '../weights/stream/target-plans.ts';
import { evaluationConfig, nothingLeft, usableHorizon, verdictOf } from './audit.ts';
import { behaviourMix } from './behaviour-mix.ts';
import { MOST_TURNS, modelOfActions } from './model-of-actions.ts';
import { permitIntervals } from './permit-intervals.ts';
import { type Evidence, reasonsAgainst } from './reasons.ts';
import { trainedOnOverride } from './trained-on-override.ts';
import { whatNext } from './what-next.ts';
import { refusedForBehaviour, returnsLeft } from './without-behaviour.ts';

/** What the rows of the targets that are scanned together may take; more targets, more pairs of scans. */
const BYTES_AT_ONCE = 512e6;
const BYTES_PER_EPISODE = 48;
const MEASURES = ['logprob', 'log_propensity'] as const;

export interface AuditStoreOptions {
  /** What the targets were trained on, instead of what they say themselves. */
  readonly trainedOn?: TrainedOn | undefined;
  readonly config?: Partial<AuditConfig> | undefined;
  /** Threads that scan; absent: one a core, only this one for small, very large and in-memory stores. */
  readonly threads?: number | undefined;
}

/**
 * Audits targets by name without loading the turns: two scans of the store for all of them, on threads. The
 * same records as `audit`, but for what needs the turns in memory: the detailed diagnostics, fitted Q-values
 * and bootstrap intervals, which are left out. O(turns) time; memory
 * O(episodes + targets at once · (episodes + stages · n/100) + tasks · stages).
 */
export async function auditStore(
  store: Store,
  targets: readonly string[],
  options: AuditStoreOptions = {},
): Promise<Audit[]> {
  const settings = parseConfig(AuditConfig, options.config ?? {}, 'audit settings');
  const table = await turnTable(store);
  const coverage = await storeCoverage(store, table);
  const list = await episodeList(store);
  const whole = wholeCoverage(coverage);
  const mix = behaviourMix(await actedPolicies(store));
  const found = await storeFindings(store);
  const unused = [...(await abortedRewardsIn(store)), ...(await unusableReturnsIn(store))];
  const left = returnsLeft(list, whole.episodes);
  // The logs are looked at first: what they lack refuses any target.
  if (MEASURES.every((measure) => sourcesWithout(coverage, measure) === null))
    return targets.map((name) => refusedForBehaviour(whole, name, options.config, undefined, left));
  const named = await namedTargets(store, list, targets, coverage, options.trainedOn);
  // Small stores are loaded for the model of the actions, so that they are judged as if loaded.
  const loaded = (await isLarge(store, MOST_TURNS)) ? null : await loadTrajectories(store);
  const atOnce = Math.max(
    1,
    Math.floor(BYTES_AT_ONCE / (BYTES_PER_EPISODE * Math.max(1, list.index.length))),
  );
  const scanOptions = { discount: settings.discount, threads: options.threads };
  const out: Audit[] = [];
  for (let from = 0; from < named.length; from += atOnce) {
    const group = named.slice(from, from + atOnce);
    const scans = await withNames(store, scanTargets(store, list, table, group, scanOptions));
    for (const [p, target] of group.entries()) {
      const scan = scans[p]!;
      if (scan !== null) {
        const { plan, held } = scan.candidate;
        const model =
          loaded === null
            ? null
            : await modelOfActions(store, {
                measure: plan.measure,
                trajectories: { ...loaded, index: held.trajectories.index },
              });
        out.push(auditOf(list, target, scan, settings, unused, mix, found, model));
      } else {
        // Scores are read in any measure; only a policy file needs one that may be missing.
        const needs = 'log_propensity';
        out.push(refusedForBehaviour(whole, target.name, options.config, needs, left));
      }
      scans[p] = null; // Its rows are not needed again.
    }
  }
  return out;
}

/** A scan knows episodes by number; a failure is told by their names. */
async function withNames<T>(store: Store, scan: Promise<T>): Promise<T> {
  try {
    return await scan;
  } catch (error) {
    const number = error instanceof TurnwiseError ? /number (\d+) of the store/.exec(error.message) : null;
    if (number === null) throw error;
    const [row] = await queryRows(store, 'SELECT episode_id FROM episodes WHERE episode = $1', [
      Number(number[1]),
    ]);
    const { message, exitCode } = error as TurnwiseError;
    throw new TurnwiseError(message.replace(number[0], String(row!.episode_id)), exitCode, error);
  }
}

/** More turns than this are better scanned than loaded: about a gigabyte of columns. */
export const SCAN_ABOVE = 10_000_000;

/** Whether a store is better scanned (`auditStore`) than loaded (`auditTarget`). */
export async function isLarge(store: Store, above = SCAN_ABOVE): Promise<boolean> {
  const [row] = await queryRows(store, 'SELECT count(*) AS n FROM turns');
  return (row!.n as number) > above;
}

function auditOf(
  list: Trajectories,
  target: NamedTarget,
  found: ScannedTarget,
  settings: AuditConfig,
  unused: readonly Warning[],
  mix: readonly Warning[],
  inStore: StoreFindings,
  model: ModelEvidence | null,
): Audit {
  const { state, candidate, rows, place, terms, noticed } = found;
  const { held, plan } = candidate;
  const warnings: Warning[] = [
    ...unused,
    ...candidate.warnings,
    ...held.warnings,
    ...noticed,
    ...(plan.kind === 'file' ? ofFile(plan, state.cells.cells.values()) : []),
    ...trainedOnOverride(target.trainedOn, target.declared),
  ];
  const ratios: LogRatios = {
    target: target.name,
    measure: plan.measure,
    trainedOn: target.trainedOn,
    trajectories: held.trajectories,
    values: new Float64Array(0),
    held: { episodes: held.episodes, tasks: held.tasks, known: held.known },
    warnings,
    missing: state.missing,
    table: null,
  };
  const behaviour = coverageOf(state.flags, state.withTask);
  if (terms === null) return nothingLeft(ratios, settings, behaviour);
  const scanned = scannedTarget(list, rows, place, state, terms, settings.discount);
  const evaluation = streamEvaluation(ratios, scanned, evaluationConfig(settings));
  const unsupported = unsupportedOfCells(plan, state.cells, scanned.weights);
  const evidence: Evidence = {
    ratios,
    evaluation,
    stages: streamStages(state, scanned.sums, unsupported.byTurn),
    weights: weightSummary(scanned.weights),
    unsupported: unsupported.summary,
    taskRules: unsupported.taskRules,
    propensities: state.propensities,
    model,
    findings: auditFindings(inStore, plan.measure),
    actionClasses: loggedClasses(plan),
  };
  const reasons = reasonsAgainst(evidence, settings);
  const verdict = verdictOf(reasons);
  return {
    target: target.name,
    trainedOn: target.trainedOn,
    verdict,
    reasons,
    findings: [...(evidence.findings ?? [])],
    next: whatNext(reasons, evidence, settings),
    usableHorizon: usableHorizon(evidence.stages, settings),
    stages: [...evidence.stages],
    weights: evidence.weights,
    unsupported: evidence.unsupported,
    evaluation: permitIntervals(evaluation, verdict),
    behaviour,
    warnings: [...evaluation.warnings, ...mix],
    config: settings,
  };
}

/** What the rules say of actions and states that the logs do not have. */
function ofFile(
  { file, classes, logged }: Extract<TargetPlan, { kind: 'file' }>,
  cells: Iterable<{ readonly rule: number }>,
): Warning[] {
  const matched = new Set([...cells].map((cell) => cell.rule));
  if (matched.size === 0) return [];
  return [
    ...classesNotLogged(file, classes.slice(0, logged)),
    ...unmatchedRules(file, (rule) => matched.has(rule)),
  ];
}
