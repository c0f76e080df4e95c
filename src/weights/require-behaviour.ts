import { failure } from '../schema/error.ts';
import type { Warning } from '../schema/warning.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { filterEpisodes } from '../trajectories/view.ts';
import { behaviourColumn, columnName } from './behaviour-column.ts';
import { behaviourCoverage, percent, whatToLog } from './behaviour-coverage.ts';
import type { Measure } from './ratios.ts';
import { withReturn } from './with-return.ts';

/** A measure in which the behaviour is logged on every turn of the view. */
export interface LoggedMeasure {
  readonly measure: Measure;
  /** The view without the sources that log nothing in this measure; episodes without a return stay in. */
  readonly trajectories: Trajectories;
  readonly warnings: readonly Warning[];
}

/**
 * The measures in which the logs can be reweighted at all. Looked at before any target: without the
 * behaviour's log-probabilities nothing can be said of another policy. A source that holds none is
 * left out, with a warning; a source that holds some is not usable, since what is missing may not be
 * missing at random.
 */
export function loggedMeasures(t: Trajectories): LoggedMeasure[] {
  const out: LoggedMeasure[] = [];
  for (const measure of ['logprob', 'log_propensity'] as const) {
    const { without, partial } = bySource(t, measure);
    if (partial) continue;
    const trajectories = filterEpisodes(t, (e) => !without.has(t.episodes.source[e]!));
    if (withReturn(trajectories).index.length === 0) continue;
    const dropped = t.index.length - trajectories.index.length;
    out.push({
      measure,
      trajectories,
      warnings:
        dropped === 0
          ? []
          : [
              {
                code: 'source-without-behaviour',
                message: `${dropped} of ${t.index.length} episodes are left out: their ${without.size === 1 ? 'source logs' : 'sources log'} no ${columnName(measure)}`,
                count: dropped,
                column: columnName(measure),
              },
            ],
    });
  }
  return out;
}

/** The same; without any, an error with exit code 3 that says what to log next time. */
export function requireBehaviour(t: Trajectories, measure?: Measure): [LoggedMeasure, ...LoggedMeasure[]] {
  const found = loggedMeasures(t).filter((m) => measure === undefined || m.measure === measure);
  const [first, ...rest] = found;
  if (first !== undefined) return [first, ...rest];
  const c = behaviourCoverage(t);
  throw failure({
    subject: 'audit',
    wrong:
      c.turns === 0
        ? 'the logs hold no turn of an episode with a return'
        : measure === undefined
          ? 'the logs do not hold the behaviour policy’s log-probabilities on every turn, so no target can be evaluated on them'
          : `${columnName(measure)} is logged on ${percent(measure === 'logprob' ? c.behaviourLogprob : c.behaviourLogPropensity)} of turns, and this target needs it on all`,
    fix: whatToLog(c).join(' '),
    exitCode: 3,
  });
}

function bySource(t: Trajectories, measure: Measure): { without: Set<number>; partial: boolean } {
  const column = behaviourColumn(t, measure);
  const present = new Map<number, [there: number, turns: number]>();
  for (const e of withReturn(t).index) {
    const count = present.get(t.episodes.source[e]!) ?? [0, 0];
    present.set(t.episodes.source[e]!, count);
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      if (!Number.isNaN(column[s]!)) count[0]++;
      count[1]++;
    }
  }
  const without = new Set<number>();
  let partial = false;
  for (const [source, [there, turns]] of present)
    if (there === 0) without.add(source);
    else if (there < turns) partial = true;
  return { without, partial };
}
