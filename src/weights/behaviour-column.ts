import { failure } from '../schema/error.ts';
import type { Warning } from '../schema/warning.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { Measure } from './ratios.ts';
import { holdsStandIn, LEAST_TOKEN_LOGPROB, STAND_IN, STAND_IN_WORDS } from './stand-in.ts';

/** Rounding that a log-probability of 0 may carry. */
const ROUNDING = 1e-9;

/** The behaviour's logged log-probability of each turn, by measure, [S]. */
export function behaviourColumn(t: Trajectories, measure: Measure): Float64Array {
  return measure === 'logprob' ? t.turns.behaviourLogprob : t.turns.behaviourLogPropensity;
}

export const columnName = (measure: Measure): string =>
  measure === 'logprob' ? 'behaviour_logprob' : 'behaviour_log_propensity';

/**
 * Checks that a column holds log-probabilities of logged actions at every turn of the view: present,
 * not positive, and, for the behaviour, not −∞ (an action that was taken had a chance).
 * Returns warnings, throws on what no reading of the column can save.
 */
export function checkLogColumn(
  t: Trajectories,
  values: Float64Array,
  name: string,
  whose: 'behaviour' | 'target',
): Warning[] {
  let positive = 0;
  let negative = 0;
  let worst = -1;
  let least = Infinity;
  let most = -Infinity;
  let turns = 0;
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      const value = values[s]!;
      if (Number.isNaN(value))
        throw at(t, e, s, name, 'is missing', undefined, 'a log-probability at every turn');
      if (value === -Infinity && whose === 'behaviour')
        throw at(t, e, s, name, 'says the logged action had probability 0', '−∞', 'a finite log-probability');
      if (whose === 'behaviour' && isStandIn(t, s, value, name))
        throw at(t, e, s, name, STAND_IN_WORDS, value === STAND_IN ? undefined : value, 'null there');
      turns++;
      if (value > ROUNDING) {
        positive++;
        if (worst < 0) worst = s;
      } else if (value < 0) negative++;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  if (positive > 0) {
    const e = t.index.find((i) => worst >= t.episodeOffsets[i]! && worst < t.episodeOffsets[i + 1]!)!;
    const probabilities = negative === 0 && most <= 1;
    throw at(
      t,
      e,
      worst,
      name,
      probabilities
        ? 'holds probabilities, not their logarithms: every value lies in [0, 1]'
        : `is positive on ${positive} of ${turns} turns`,
      values[worst]!,
      'natural logarithms of probabilities, at most 0',
    );
  }
  if (whose === 'target' || turns < 2 || least !== most) return [];
  if (evenOverClasses(t, least)) return [];
  return [
    {
      code: 'constant-propensity',
      message: `${name} is ${least} on all ${turns} turns, which looks filled in rather than logged`,
      count: turns,
      column: name,
    },
  ];
}

function isStandIn(t: Trajectories, s: number, value: number, name: string): boolean {
  return name === 'behaviour_logprob'
    ? holdsStandIn(value, t.turns.nActionTokens[s]!)
    : value < LEAST_TOKEN_LOGPROB;
}

/** A constant is right where the logs chose evenly among the declared classes. */
function evenOverClasses(t: Trajectories, value: number): boolean {
  const { codes } = t.turns.actionClass;
  const seen = new Set<number>();
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) seen.add(codes[s]!);
  return seen.size > 1 && !seen.has(-1) && Math.abs(Math.exp(value) * seen.size - 1) < 1e-6;
}

function at(
  t: Trajectories,
  e: number,
  s: number,
  name: string,
  wrong: string,
  got: string | number | undefined,
  expected: string,
) {
  return failure({
    subject: `episode ${t.episodes.id[e]} turn ${t.turns.turn[s]}, column ${name}`,
    wrong,
    got,
    expected,
  });
}
