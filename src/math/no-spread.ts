import { clopperPearsonAllAlike, type ExactInterval } from './clopper-pearson.ts';

/** Relative to the values: what rounding alone makes of a spread of 0. */
const ROUNDING = 1e-12;
/** Of returns that count as 0 or 1, as in `isBinary`. */
const BINARY = 1e-6;

/** Why there is no interval where nothing varies. */
export const NO_SPREAD = 'the spread is 0, and a spread of 0 is not certainty';

/** Whether a standard error is 0 but for the arithmetic. */
export const withoutSpread = (se: number, scale: number): boolean => se <= ROUNDING * Math.abs(scale);

/**
 * The interval of a mean whose standard error is 0: exact where all returns are 0 or all are 1, else null. All trials
 * of a task are alike, so that a task counts once.
 */
export function withoutSpreadInterval(
  returns: Float64Array,
  tasks: number,
  level: number,
): ExactInterval | null {
  for (const outcome of [0, 1] as const)
    if (tasks > 0 && returns.every((g) => Math.abs(g - outcome) <= BINARY))
      return clopperPearsonAllAlike(outcome, tasks, level);
  return null;
}
