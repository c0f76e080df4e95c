import type { BehaviourCoverage } from '../schema/behaviour-coverage.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { withReturn } from './with-return.ts';

/** On what share of the turns the logs hold what weights are made of. O(turns). */
export function behaviourCoverage(all: Trajectories): BehaviourCoverage {
  const t = withReturn(all);
  const { turns: c } = t;
  let turns = 0;
  let propensity = 0;
  let logprob = 0;
  let actionClass = 0;
  let sampling = 0;
  let kind = 0;
  let version = 0;
  let task = 0;
  for (const e of t.index) {
    if (t.episodes.task.codes[e]! >= 0) task++;
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      turns++;
      if (!Number.isNaN(c.behaviourLogPropensity[s]!)) propensity++;
      if (!Number.isNaN(c.behaviourLogprob[s]!)) logprob++;
      if (c.actionClass.codes[s]! >= 0) actionClass++;
      if (!Number.isNaN(c.temperature[s]!)) sampling++;
      if (c.logprobKind.codes[s]! >= 0) kind++;
      if (c.version.codes[s]! >= 0) version++;
    }
  }
  const of = (count: number, total: number): number => (total === 0 ? 0 : count / total);
  return {
    episodes: t.index.length,
    turns,
    behaviourLogPropensity: of(propensity, turns),
    behaviourLogprob: of(logprob, turns),
    actionClass: of(actionClass, turns),
    sampling: of(sampling, turns),
    logprobKind: of(kind, turns),
    version: of(version, turns),
    task: of(task, t.index.length),
  };
}

/** What to log next time, and on what share of the turns each part is there now. */
export function whatToLog(c: BehaviourCoverage): string[] {
  const there = (share: number, of = 'turns') => `now on ${percent(share)} of ${of}`;
  const also = [
    ...(c.task < 1 ? [`the task_id (${there(c.task, 'episodes')})`] : []),
    ...(c.version < 1 ? [`the policy version (${there(c.version)})`] : []),
  ];
  return [
    `Log behaviour_log_propensity on every turn (${there(c.behaviourLogPropensity)}) together with the declared action_class (${there(c.actionClass)}),`,
    `or behaviour_logprob on every turn (${there(c.behaviourLogprob)}) with the sampling parameters (${there(c.sampling)}) and whether it is raw or processed (${there(c.logprobKind)}).`,
    ...(also.length > 0 ? [`Log ${also.join(' and ')}.`] : []),
  ];
}

/** Never rounds up to 100 % or down to 0 %. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return 'under 0.1 %';
  if (share < 1 && share > 0.999) return 'over 99.9 %';
  return `${Number((share * 100).toFixed(1))} %`;
}
