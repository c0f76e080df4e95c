import type { CriticReport } from '../schema/credit.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { CriticRows } from './critic-rows.ts';

const CAUSAL =
  'A of the logging policy under logged propensities: the effect of this turn instead of the logging policy’s average turn, with the logging policy afterwards, as far as the state features hold everything it saw; supported turns only';
const PREDICTIVE =
  'predictive only, not causal: the propensities of the actions are not in the logs; a turn with a high A is one after which the logging policy did better than the state before it foretold';

/** What the numbers may be read as. */
export function creditLabel(
  t: Trajectories,
  r: CriticRows,
  stateFeatures: number,
): CriticReport['label'] & { readonly policies: readonly string[] } {
  const { behaviourLogprob, behaviourLogPropensity } = t.turns;
  let known = 0;
  for (const row of r.rows)
    if (!(Number.isNaN(behaviourLogprob[row]!) && Number.isNaN(behaviourLogPropensity[row]!))) known++;
  const propensities = known === r.rows.length ? 'logged' : known === 0 ? 'unknown' : 'partly logged';
  const { codes, values } = t.episodes.policy;
  const policies = [
    ...new Set(Array.from(r.episodes, (e) => (codes[e]! < 0 ? '(unnamed)' : values[codes[e]!]!))),
  ].sort();
  return {
    causal: propensities === 'logged' ? CAUSAL : PREDICTIVE,
    propensities,
    state: `${stateFeatures} features of what came before the turn, not the full history: whatever else the policy saw may confound`,
    inference: `held out by task in ${r.folds} folds; standard errors CR1 by task, given the fitted critic`,
    policies,
  };
}

export const CONVENTION =
  'V: return to go on state; Q: r + V(s′) on state and action, V = 0 after the end, endings by limit among them; ridge (X′X + λP)β = X′y, P = diag(0, 1, …, 1); γ = 1';

const count = (n: number): string => n.toLocaleString('en-US');

export function estimandOf(policies: readonly string[], n: number, tasks: number): string {
  const who =
    policies.length === 1
      ? `the logging policy ${policies[0]}`
      : `the mixture of ${policies.length} logging policies`;
  return `Q, V and A = Q − V of ${who}, from each turn to the end of its episode; ${count(n)} finished episodes of ${count(tasks)} tasks`;
}
