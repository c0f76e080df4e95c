import { failure } from '../../schema/error.ts';
import { STAND_IN, STAND_IN_WORDS } from '../stand-in.ts';

/** Rounding that a log-probability of 0 may carry; as in behaviour-column.ts. */
const ROUNDING = 1e-9;

/** What was seen of a column of log-probabilities at the turns in use. Two of them merge. */
export interface ColumnCheck {
  turns: number;
  missing: number;
  positive: number;
  negative: number;
  least: number;
  most: number;
  /** The first turn that no reading can save: place of the episode, turn, value. */
  bad: [row: number, turn: number, value: number] | null;
  /** A turn at −∞ or with a stand-in, which only a target may have. */
  impossible: [row: number, turn: number, value: number] | null;
}

export const columnCheck = (): ColumnCheck => ({
  turns: 0,
  missing: 0,
  positive: 0,
  negative: 0,
  least: Infinity,
  most: -Infinity,
  bad: null,
  impossible: null,
});

/** Takes up the values at turns from..to of the episode at `row`. */
export function checkTurns(
  c: ColumnCheck,
  values: Float64Array,
  turn: Float64Array,
  from: number,
  to: number,
  row: number,
): void {
  c.turns += to - from;
  let { least, most } = c;
  for (let k = from; k < to; k++) {
    const x = values[k]!;
    if (x < least) {
      least = x;
      if (x <= STAND_IN) c.impossible ??= [row, turn[k]!, x];
    }
    if (x > most) most = x;
    if (x < 0) c.negative++;
    else if (!(x <= ROUNDING)) {
      if (Number.isNaN(x)) c.missing++;
      else c.positive++;
      c.bad ??= [row, turn[k]!, x];
    }
  }
  c.least = least;
  c.most = most;
}

export function mergeChecks(into: ColumnCheck, from: ColumnCheck): void {
  into.turns += from.turns;
  into.missing += from.missing;
  into.positive += from.positive;
  into.negative += from.negative;
  into.least = Math.min(into.least, from.least);
  into.most = Math.max(into.most, from.most);
  into.bad = earlier(into.bad, from.bad);
  into.impossible = earlier(into.impossible, from.impossible);
}

function earlier<T extends readonly [row: number, ...rest: number[]]>(a: T | null, b: T | null): T | null {
  return a === null || (b !== null && b[0] < a[0]) ? b : a;
}

/**
 * Refuses a column that is missing or positive at a turn, or, of the behaviour, −∞.
 * @param nameOf the episode at a place, for the message
 */
export async function refuseBad(
  c: ColumnCheck,
  name: string,
  whose: 'behaviour' | 'target',
  nameOf: (row: number) => Promise<string>,
): Promise<void> {
  if (c.bad !== null) {
    const [row, turn, value] = c.bad;
    const probabilities = c.missing === 0 && c.negative === 0 && c.most <= 1;
    throw failure({
      subject: `episode ${await nameOf(row)} turn ${turn}, column ${name}`,
      wrong: Number.isNaN(value)
        ? 'is missing'
        : probabilities
          ? 'holds probabilities, not their logarithms: every value lies in [0, 1]'
          : `is positive on ${c.positive} of ${c.turns} turns`,
      ...(Number.isNaN(value) ? {} : { got: value }),
      expected: Number.isNaN(value)
        ? 'a log-probability at every turn'
        : 'natural logarithms of probabilities, at most 0',
    });
  }
  if (whose === 'behaviour' && c.impossible !== null)
    throw failure({
      subject: `episode ${await nameOf(c.impossible[0])} turn ${c.impossible[1]}, column ${name}`,
      ...(c.impossible[2] === -Infinity
        ? {
            wrong: 'says the logged action had probability 0',
            got: '−∞',
            expected: 'a finite log-probability',
          }
        : { wrong: STAND_IN_WORDS, expected: 'null there' }),
    });
}
