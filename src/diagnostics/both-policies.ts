import type { BehaviourTable } from '../policy/behaviour-table.ts';
import type { LogRatios, TargetTable } from '../weights/ratios.ts';

/** All action probabilities of both policies at the logged turns, on one list of classes. */
export interface BothPolicies {
  readonly classes: readonly string[]; // [A] of the target's table; those of the logs by code
  readonly target: TargetTable;
  readonly behaviour: BehaviourTable;
  /** [A] place of a class in the behaviour's table; −1: the behaviour never takes it. */
  readonly place: Int32Array;
}

/** Both tables, or why there are not both. */
export function bothPolicies({ table, behaviour }: LogRatios): BothPolicies | string {
  if (table === null) return 'recorded scores give the target’s probability of logged actions only';
  if (behaviour === undefined) return NO_BEHAVIOUR;
  const place = Int32Array.from(table.classes, (name) => behaviour.classes.indexOf(name));
  return { classes: table.classes, target: table, behaviour, place };
}

export const NO_BEHAVIOUR =
  'the logs give the behaviour’s probability of the logged action only; declare the behaviour policy, or estimate its propensities';

/** π(a | h_s). */
export function targetAt(both: BothPolicies, s: number, a: number): number {
  return both.target.probabilities[both.target.cell[s]! * both.classes.length + a]!;
}

/** b(a | h_s). */
export function behaviourAt(both: BothPolicies, s: number, a: number): number {
  const k = both.place[a]!;
  return k < 0 ? 0 : both.behaviour.probabilities[s * both.behaviour.classes.length + k]!;
}
