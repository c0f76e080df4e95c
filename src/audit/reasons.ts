import type { ModelEvidence } from '../diagnostics/model-evidence.ts';
import type { PropensityCells } from '../diagnostics/propensity-cells.ts';
import type { TaskRules } from '../diagnostics/unsupported-split.ts';
import type { AuditFinding, Reason, Stage, UnsupportedMass, WeightSummary } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import { estimators } from '../value/estimators.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { countedWords, countWords, numberWords, shareWords } from '../weights/words.ts';
import { withoutError } from './errors-missing.ts';
import { knownFaults } from './known-faults.ts';
import { worstMeanWeight } from './mean-weight-test.ts';
import { modelPredictsBetter } from './model-of-actions.ts';
import { propensitiesContradicted } from './propensities-contradicted.ts';
import { rulesNameTasks } from './rules-name-tasks.ts';
import { shareInWords } from './target-share.ts';
import { unknownReturns } from './unknown-returns.ts';

export interface Evidence {
  readonly ratios: LogRatios;
  readonly evaluation: Evaluation;
  readonly stages: readonly Stage[];
  readonly weights: WeightSummary;
  readonly unsupported: UnsupportedMass;
  /** Of a policy file; absent or null: not one. */
  readonly taskRules?: TaskRules | null;
  /** Sums by cell of the logged propensities; absent: not looked at. */
  readonly propensities?: PropensityCells;
  /** The propensities against a model of the actions; absent or null: not fitted. */
  readonly model?: ModelEvidence | null;
  /** What `check` finds in the store; absent: not looked at. */
  readonly findings?: readonly AuditFinding[];
  /** Names of the classes of the logs. */
  readonly actionClasses: readonly string[];
}

/** What looks for reasons, each a family of its own. */
const FAMILIES: readonly ((evidence: Evidence, config: AuditConfig) => Reason[])[] = [
  refusals,
  weaknesses,
  unknownReturns,
  withoutError,
  propensitiesContradicted,
  modelPredictsBetter,
  rulesNameTasks,
  knownFaults,
];

/** Everything that speaks against trusting the evaluation, refusals first. */
export function reasonsAgainst(evidence: Evidence, config: AuditConfig): Reason[] {
  const reasons = FAMILIES.flatMap((family) => family(evidence, config));
  return [...reasons.filter((r) => r.verdict === 'refused'), ...reasons.filter((r) => r.verdict === 'weak')];
}

function refusals(
  { ratios, evaluation, stages, weights: w, unsupported }: Evidence,
  c: AuditConfig,
): Reason[] {
  const out: Reason[] = [];
  const refuse = refuser('refused', out);
  const K = evaluation.clusters;
  if (K < c.minTasks)
    refuse(
      ratios.held.episodes > 0 ? 'trained-on-these-logs' : 'too-few-tasks',
      ratios.held.episodes > 0
        ? `the target was trained on ${countWords(ratios.held.tasks)} of these tasks, which leaves ${K} to evaluate it on`
        : `${countedWords(K, 'task')} ${K === 1 ? 'is' : 'are'} too few for a standard error`,
      K,
      c.minTasks,
    );
  if (w.followers === 0)
    refuse('no-followers', 'no logged episode is one that the target could have produced', 0, 1);
  for (const { message } of classesNotLogged(ratios, unsupported, c, 'refused'))
    refuse('class-not-logged', message, null, null);
  if (w.followers === 0) return out;
  if (w.ess < c.minEss)
    refuse(
      'low-ess',
      `${countedWords(evaluation.episodes.used, 'episode')} ${evaluation.episodes.used === 1 ? 'is' : 'are'} worth ${numberWords(w.ess)} under the target`,
      w.ess,
      c.minEss,
    );
  if (w.essByTask < c.minTaskEss)
    refuse(
      'low-task-ess',
      `${countedWords(K, 'task')} ${K === 1 ? 'is' : 'are'} worth ${numberWords(w.essByTask)} under the target`,
      w.essByTask,
      c.minTaskEss,
    );
  const thin = thinnestTurn(stages, c);
  if (thin !== null && thin.essAlive < c.minTurnEss)
    refuse('thin-turn', thinMessage(thin, stages), thin.essAlive, c.minTurnEss, thin.turn);
  // Fewer tasks give no standard error to test with; that is refused above.
  const off = K < c.minTasks ? null : worstMeanWeight(stages, evaluation.episodes.used, K, c.meanWeightZ);
  if (off !== null)
    refuse(
      'mean-weight',
      `the mean weight at turn ${off.turn} is ${off.mean}, ${off.z === null ? 'without any spread' : `${numberWords(Math.abs(off.z))} standard errors from 1`}: the propensities are wrong, or the logs lack paths of the target`,
      off.z,
      off.limit,
      off.turn,
    );
  if (unsupported.mass !== null && unsupported.mass > c.maxUnsupported)
    refuse('unsupported-mass', unsupportedWords(unsupported, stages), unsupported.mass, c.maxUnsupported);
  if (unsupported.open?.beyondChance)
    refuse(
      'unlogged-beyond-chance',
      `the target takes actions not logged where it takes them ${times(unsupported.open.mass, stages)}, where the propensities explain ${unsupported.open.expected.toPrecision(2)}: some of them do not occur there`,
      unsupported.open.mass,
      unsupported.open.expected,
    );
  for (const { code, message } of evaluation.warnings)
    if (code === 'bounds-contradict') refuse(code, message, null, null);
  return out;
}

function weaknesses(
  { ratios, evaluation, stages, weights: w, unsupported }: Evidence,
  c: AuditConfig,
): Reason[] {
  const out: Reason[] = [];
  const weak = refuser('weak', out);
  if (w.essByTask >= c.minTaskEss && w.essByTask < c.weakTaskEss)
    weak(
      'few-task-ess',
      `${countedWords(evaluation.clusters, 'task')} are worth ${numberWords(w.essByTask)} under the target`,
      w.essByTask,
      c.weakTaskEss,
    );
  if (w.essShare < c.weakEssShare)
    weak('low-ess-share', `only ${shareWords(w.essShare)} of the episodes count`, w.essShare, c.weakEssShare);
  const thin = thinnestTurn(stages, c);
  if (thin !== null && thin.essAlive >= c.minTurnEss && thin.essAlive < c.weakTurnEss)
    weak('thin-turn', thinMessage(thin, stages), thin.essAlive, c.weakTurnEss, thin.turn);
  if (w.followers > 0 && w.events !== null && w.events < c.weakEvents)
    weak(
      'few-events',
      w.events === 0
        ? `all returns are alike in ${countedWords(evaluation.clusters, 'task')}: an error of 0 says nothing of an outcome never seen`
        : `outcomes are rare: the value rests on the like of ${numberWords(w.events)} of them in ${countedWords(evaluation.clusters, 'task')}`,
      w.events,
      c.weakEvents,
    );
  const limit = Math.min(c.weakTailIndex, w.kHatThreshold ?? c.weakTailIndex);
  if (w.kHat !== null && w.kHat > limit)
    weak('heavy-tail', `the weights have a heavy tail, Pareto k̂ ${w.kHat.toFixed(2)}`, w.kHat, limit);
  else if (w.kHatReturn !== null && w.kHatReturn > limit)
    weak(
      'heavy-tail',
      `weights times returns have a heavy tail, Pareto k̂ ${w.kHatReturn.toFixed(2)}`,
      w.kHatReturn,
      limit,
    );
  if (w.largestShare > c.weakLargestShare)
    weak(
      'one-episode',
      `one episode carries ${(100 * w.largestShare).toFixed(0)} % of the weight`,
      w.largestShare,
      c.weakLargestShare,
    );
  if (
    unsupported.mass !== null &&
    unsupported.mass > c.weakUnsupported &&
    unsupported.mass <= c.maxUnsupported
  )
    weak('unsupported-mass', unsupportedWords(unsupported, stages), unsupported.mass, c.weakUnsupported);
  if (unsupported.open !== null && unsupported.open.bound > c.weakOpen)
    weak(
      'unlogged-mass',
      `the target takes actions not logged where it takes them ${times(unsupported.open.mass, stages)}; they may all occur, but the mean weight leaves room for ${unsupported.open.bound.toPrecision(2)} that do not`,
      unsupported.open.bound,
      c.weakOpen,
    );
  if (!ratios.held.known)
    weak('trained-on-unknown', 'whether the target was trained on these logs is not known', null, null);
  for (const { message } of classesNotLogged(ratios, unsupported, c, 'weak'))
    weak('class-not-logged', message, null, null);
  for (const { code, message } of ratios.warnings)
    if (NOTICED.includes(code)) weak(code, message, null, null);
  for (const e of evaluation.estimates)
    if (
      e.warnings.some((x) => x.code === 'outside-range') &&
      (e.interval !== null || estimators.some((x) => x.name === e.estimator && x.consistent))
    )
      weak(
        'outside-range',
        `${e.estimator} gives ${Number(e.value!.toPrecision(5))}, a value no logged episode has`,
        e.value,
        null,
      );
  return out;
}

/** Warnings of the ratios that no figure shows. */
const NOTICED = ['constant-propensity', 'logprob-kind-unknown', 'estimated-propensities'];

/** Of the turns that the target reaches often, the one that fewest rollouts stand for. */
function thinnestTurn(stages: readonly Stage[], c: AuditConfig): Stage | null {
  let thin: Stage | null = null;
  for (const s of stages)
    if ((s.targetShare ?? 0) >= c.turnShare && (thin === null || s.essAlive < thin.essAlive)) thin = s;
  return thin;
}

const thinMessage = (s: Stage, stages: readonly Stage[]): string =>
  `${shareInWords(stages, s.turn)} of the target’s episodes reach turn ${s.turn}, and ${numberWords(s.essAlive)} logged ones stand for them`;

/** Classes that the logs do not have, where the target reaches them: with what verdict is a matter of how often. */
function classesNotLogged(
  { warnings }: LogRatios,
  { mass }: UnsupportedMass,
  c: AuditConfig,
  verdict: Reason['verdict'],
) {
  const reached = mass === null || mass <= 0 ? null : mass > c.maxUnsupported ? 'refused' : 'weak';
  return reached === verdict ? warnings.filter((w) => w.code === 'class-not-logged') : [];
}

/** A mass beyond the number of turns is no count: the weights before are wrong. */
function unsupportedWords(unsupported: UnsupportedMass, stages: readonly Stage[]): string {
  return `the target takes actions that the logs never show there ${times(unsupported.mass!, stages)}, mostly ${firstCell(unsupported)}`;
}

const times = (mass: number, stages: readonly Stage[]): string =>
  mass > stages.length
    ? `more often than there are turns (${stages.length})`
    : `${mass.toPrecision(2)} times per episode`;

function firstCell({ cells: [first] }: UnsupportedMass): string {
  return first === undefined ? '' : `${first.actions.join(', ')} in ${first.cell}`;
}

function refuser(verdict: Reason['verdict'], out: Reason[]) {
  return (
    code: string,
    message: string,
    value: number | null,
    threshold: number | null,
    turn?: number,
  ): void => {
    out.push({ code, verdict, message, value, threshold, ...(turn === undefined ? {} : { turn }) });
  };
}
