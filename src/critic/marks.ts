/**
 * What may be called helpful or harmful. Limits are two-sided at 5 % over all that were looked at
 * (Bonferroni): the most extreme of many means is far from 0 by chance alone.
 */
import { studentQuantile } from '../math/distributions.ts';
import type {
  ActionAdvantage,
  ActionContrast,
  CriticReport,
  StageAdvantage,
  TurnCredit,
} from '../schema/credit.ts';
import type { Warning } from '../schema/warning.ts';

/** Warnings that must be read before any number; with one of them nothing is marked. */
const LOUD = [
  'copied-episodes',
  'zero-variance',
  'no-better-than-constant',
  'gain-not-clear',
  'no-better-than-placebo',
  'no-better-than-length',
  'next-state-blind',
];

const ALPHA = 0.05;

export type Mark = 'helpful' | 'harmful' | null;

export const isLoud = ({ code }: Pick<Warning, 'code'>): boolean => LOUD.includes(code);

/** Why nothing is marked; null where the critic may be read. */
export function unmarkedReason(r: Pick<CriticReport, 'warnings'>): string | null {
  return r.warnings.some(isLoud)
    ? 'No turn is marked helpful or harmful: the critic did not pass its own checks, see the warnings.'
    : null;
}

/** Standard errors from 0 beyond which one of `looked` means counts as clear; its error rests on `tasks`. */
export function clearLimit(looked: number, tasks = Number.POSITIVE_INFINITY): number {
  return tasks < 2 ? Number.POSITIVE_INFINITY : studentQuantile(1 - ALPHA / (2 * looked), tasks - 1);
}

/** The mark of an action, as the report holds it: of its contrast, which does not rest on the critic’s checks. */
export const actionMark = (_: CriticReport, a: ActionAdvantage): Mark => a.mark;

/** By the contrast, one of `looked` that were judged together. */
export const contrastMark = (c: ActionContrast, looked: number): Mark =>
  c.mean === null || c.df === null ? null : markOf(c.mean, c.se, clearLimit(looked, c.df + 1));

/** How actions are marked, in a sentence. */
export function actionMarkNote(r: CriticReport): string {
  const looked = r.actions.filter((a) => a.contrast.mean !== null).length;
  if (looked === 0)
    return 'No action is marked: none can be compared within a task. It takes several trials of a task that differ in the action at the same turn.';
  return `Marked by the contrast: turns with the action against turns without it, same task and same turn, in units of the return; beyond a two-sided 5 % limit of t by task, raised for ${looked} actions compared. Mean δ and mean A are without an error of their own.`;
}

/** Supported turns of the whole log: any of them may be the one that is looked at. */
const turnsLooked = (r: Pick<CriticReport, 'turns' | 'supportedShare'>): number =>
  Math.max(1, Math.round(r.turns * r.supportedShare));

type MarkedTurn = Pick<TurnCredit, 'advantage' | 'advantageSe' | 'supported'>;

/** Turns whose A is clear: supported, and beyond a limit that bounds false marks over all turns of the log at 5 %. */
export function turnMarks(r: CriticReport, turns: readonly MarkedTurn[]): Mark[] {
  if (unmarkedReason(r) !== null) return turns.map(() => null);
  const limit = clearLimit(turnsLooked(r));
  return turns.map((t) => (t.supported ? markOf(t.advantage, t.advantageSe, limit) : null));
}

/** How turns are marked, in a sentence. */
export const turnMarkNote = (r: CriticReport): string =>
  unmarkedReason(r) ??
  `Marked by A: supported turns beyond ${clearLimit(turnsLooked(r)).toFixed(2)} of their own standard errors, so that of all ${turnsLooked(r).toLocaleString('en-US')} supported turns of the log one is marked by chance in 5 % of logs. ` +
    'That error is of the ridge prediction, one turn at a time; what the features and the pooling of stages leave out is not in it.';

/** Whether the mean of A at a turn is further from 0 than chance makes it: at least 3 standard errors. */
export function offCentre(stages: readonly StageAdvantage[], s: StageAdvantage): boolean {
  const limit = Math.max(3, clearLimit(stages.length, s.tasks));
  return markOf(s.advantage.mean, s.advantage.se, limit) !== null;
}

function markOf(mean: number, se: number | null, limit: number): Mark {
  if (se === null || !(Math.abs(mean) > limit * se)) return null;
  return mean > 0 ? 'helpful' : 'harmful';
}
