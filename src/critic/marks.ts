/**
 * What may be called helpful or harmful. Limits are two-sided at 5 % over all that were looked at
 * (Bonferroni): the most extreme of many means is far from 0 by chance alone.
 */
import { studentQuantile } from '../math/distributions.ts';
import type { ActionAdvantage, CriticReport, EpisodeCredit, StageAdvantage } from '../schema/credit.ts';
import type { Warning } from '../schema/warning.ts';

/** Warnings that must be read before any number; with one of them nothing is marked. */
const LOUD = [
  'zero-variance',
  'no-better-than-constant',
  'gain-not-clear',
  'no-better-than-placebo',
  'no-better-than-length',
];

const ALPHA = 0.05;

export type Mark = 'helpful' | 'harmful' | null;

export const isLoud = ({ code }: Pick<Warning, 'code'>): boolean => LOUD.includes(code);

/** Why nothing is marked; null where the critic may be read. */
export function unmarkedReason(r: Pick<CriticReport, 'warnings'>): string | null {
  return r.warnings.some(isLoud)
    ? 'Nothing is marked helpful or harmful: the critic did not pass its own checks, see the warnings.'
    : null;
}

/** Standard errors from 0 beyond which one of `looked` means counts as clear; its error rests on `tasks`. */
export function clearLimit(looked: number, tasks = Number.POSITIVE_INFINITY): number {
  return tasks < 2 ? Number.POSITIVE_INFINITY : studentQuantile(1 - ALPHA / (2 * looked), tasks - 1);
}

/** By mean δ, over all actions listed in the report. */
export function actionMark(r: CriticReport, a: ActionAdvantage): Mark {
  if (unmarkedReason(r) !== null) return null;
  return markOf(a.delta.mean, a.delta.se, clearLimit(r.actions.length, a.tasks));
}

/** How actions are marked, in a sentence. */
export const actionMarkNote = (r: CriticReport): string =>
  unmarkedReason(r) ??
  `Marked by mean δ: beyond a two-sided 5 % limit of t, raised for ${r.actions.length} actions compared (${clearLimit(r.actions.length, r.tasks).toFixed(2)} standard errors with all ${r.tasks} tasks).`;

/** The turns with the largest and the smallest A, each only where A is beyond its own error. */
export function turnMarks(r: CriticReport, episode: EpisodeCredit): Mark[] {
  const { turns } = episode;
  const marks = turns.map((): Mark => null);
  if (unmarkedReason(r) !== null) return marks;
  const limit = Math.max(2, clearLimit(turns.length));
  for (const sign of [1, -1]) {
    let at = 0;
    turns.forEach((k, i) => {
      if (sign * k.advantage > sign * turns[at]!.advantage) at = i;
    });
    const mark = turns.length === 0 ? null : markOf(turns[at]!.advantage, turns[at]!.advantageSe, limit);
    if (mark === (sign > 0 ? 'helpful' : 'harmful')) marks[at] = mark;
  }
  return marks;
}

/** How turns are marked, in a sentence. */
export const turnMarkNote = (r: CriticReport, episode: EpisodeCredit): string =>
  unmarkedReason(r) ??
  `Marked by A: the largest and the smallest of ${episode.turns.length} turns, only beyond ${Math.max(2, clearLimit(episode.turns.length)).toFixed(2)} of its own standard errors. ` +
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
