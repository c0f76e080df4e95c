import type { Trajectories } from '../trajectories/trajectories.ts';
import { matchRules } from './match-rules.ts';
import type { PolicyFile } from './policy-file.ts';

/** b(· | h) of the behaviour at the logged turns, all declared classes. */
export interface BehaviourTable {
  readonly source: 'declared' | 'estimated';
  readonly classes: readonly string[]; // [C] those of the logs by code, then others it names
  readonly probabilities: Float64Array; // [S × C], NaN outside the view
}

/** A behaviour that is itself a declared tabular policy. O(turns × (rules + C)). */
export function behaviourFromPolicyFile(t: Trajectories, file: PolicyFile): BehaviourTable {
  const { rule } = matchRules(t, file);
  const classes = [
    ...new Set([...t.turns.actionClass.values, ...file.rules.flatMap((r) => Object.keys(r.probabilities))]),
  ];
  const C = classes.length;
  const of = file.rules.map((r) =>
    classes.map((name) => (Object.hasOwn(r.probabilities, name) ? r.probabilities[name]! : 0)),
  );
  const probabilities = new Float64Array(rule.length * C).fill(Number.NaN);
  for (let s = 0; s < rule.length; s++) if (rule[s]! >= 0) probabilities.set(of[rule[s]!]!, s * C);
  return { source: 'declared', classes, probabilities };
}
