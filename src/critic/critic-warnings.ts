import type { CriticReport } from '../schema/credit.ts';
import type { Warning } from '../schema/warning.ts';
import { clearLimit, offCentre } from './marks.ts';

/** Everything a reader of turn advantages must know first. */
export function criticWarnings(
  report: Omit<CriticReport, 'warnings'>,
  policies: readonly string[],
  singular: number,
  unseen: readonly string[] = [],
): Warning[] {
  const { config, heldOut, constant, placebo, excluded, tasks } = report;
  const out: Warning[] = [];
  const warn = (code: string, message: string, count?: number): void => {
    out.push({ code, message, ...(count === undefined ? {} : { count }) });
  };
  if (constant.r2 === null)
    warn('zero-variance', 'every return to go is the same: there is nothing to predict');
  else if (heldOut.rmse >= constant.rmse || (heldOut.r2 ?? 0) <= 0)
    warn(
      'no-better-than-constant',
      'the critic does not beat a constant on held-out tasks (or its R² is not above 0); do not read turn advantages',
    );
  else if (heldOut.gainSe === null || heldOut.gain < 2 * heldOut.gainSe)
    warn(
      'gain-not-clear',
      'the critic beats a constant on held-out tasks by less than two standard errors; turn advantages may be noise',
    );
  if (
    constant.r2 !== null &&
    heldOut.rmse < constant.rmse &&
    !(heldOut.gainByTurn >= 2 * (heldOut.gainByTurnSe ?? Number.POSITIVE_INFINITY))
  )
    warn(
      'no-better-than-length',
      'the critic does not beat a mean for each turn index by two standard errors, paired by task: it may have learnt no more than how long the episode has run',
    );
  if (constant.r2 !== null && placebo.asGood === 0 && placebo.runs < 19)
    warn(
      'few-placebos',
      `${placebo.runs} placebo runs are too few to tell the critic from them at 5 %: 19 can`,
    );
  else if (constant.r2 !== null && (placebo.asGood + 1) / (placebo.runs + 1) > 0.05)
    warn(
      'no-better-than-placebo',
      `${placebo.asGood} of ${placebo.runs} placebo runs with shuffled outcomes predict as well as the critic`,
      placebo.asGood,
    );
  if (unseen.length > 0)
    warn(
      'next-state-blind',
      `the state after the turn does not show what ${unseen.slice(0, 3).join('; ')}${unseen.length > 3 ? ` and ${unseen.length - 3} more` : ''} did: returns that follow differ from V there by more than chance, and the difference is credited to later turns; no turn is marked`,
    );
  if (tasks < config.minTasks)
    warn('few-tasks', `only ${tasks} tasks: held-out errors and standard errors are unsteady`, tasks);
  if (report.critic.folds < config.folds)
    warn('folds-reduced', `${tasks} tasks allow only ${report.critic.folds} folds`, report.critic.folds);
  if (config.lambda === 'auto' && report.critic.folds < 3)
    warn('lambda-not-chosen', 'two folds leave nothing to choose λ on: the middle of the grid is used');
  if (singular > 0)
    warn(
      'singular',
      'features are linearly dependent and λ = 0: the solution of least norm is used',
      singular,
    );
  const cut = excluded.truncated + excluded.unfinished + excluded.aborted;
  const unpaid = excluded.withoutReward + excluded.returnNotFinite;
  if (cut + unpaid + excluded.withoutTurns > 0)
    warn(
      'excluded-episodes',
      `episodes left out: ${excluded.truncated} truncated, ${excluded.unfinished} unfinished, ${excluded.aborted} aborted, ${excluded.withoutReward} without a reward, ${excluded.withoutTurns} without turns${excluded.returnNotFinite > 0 ? `, ${excluded.returnNotFinite} with a return that is no number of reasonable size` : ''}`,
      cut + unpaid + excluded.withoutTurns,
    );
  if (policies.length > 1)
    warn(
      'several-policies',
      `V and A are of the mixture of ${policies.length} logging policies; choose one to value its turns alone`,
      policies.length,
    );
  const off = report.stages.filter((stage) => offCentre(report.stages, stage));
  const worst = off.reduce((most, s) => Math.max(most, Math.abs(s.advantage.mean)), 0);
  if (off.length > 0)
    warn(
      'advantage-off-centre',
      `the mean of A is clearly not 0 at turn ${off.map((s) => s.turn).join(', ')} (up to ${worst.toPrecision(2)}; beyond ${Math.max(3, clearLimit(report.stages.length)).toFixed(2)} standard errors or more, raised for ${report.stages.length} turns tested): V and Q do not fit there`,
      off.length,
    );
  return out;
}
