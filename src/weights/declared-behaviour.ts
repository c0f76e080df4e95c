import type { BehaviourTable } from '../policy/behaviour-table.ts';
import { failure } from '../schema/error.ts';
import type { Warning } from '../schema/warning.ts';
import type { LogRatios } from './ratios.ts';
import { withReturn } from './with-return.ts';

/** How far a declared propensity may be from the logged one. */
const AGREE = 1e-6;

/**
 * Adds the behaviour's declared probabilities of all classes. Weights stay those of the logged
 * propensities; where the two differ a warning says so. An action that was taken had a chance: 0 is refused.
 */
export function withDeclaredBehaviour(ratios: LogRatios, behaviour: BehaviourTable): LogRatios {
  const { index, episodeOffsets, episodes, turns } = withReturn(ratios.trajectories);
  const C = behaviour.classes.length;
  let apart = 0;
  let most = 0;
  for (const e of index)
    for (let s = episodeOffsets[e]!; s < episodeOffsets[e + 1]!; s++) {
      const code = turns.actionClass.codes[s]!;
      if (code < 0) continue;
      const b = behaviour.probabilities[s * C + code]!;
      if (b === 0)
        throw failure({
          subject: `declared behaviour, episode ${episodes.id[e]} turn ${turns.turn[s]}`,
          wrong: `gives the logged action "${turns.actionClass.values[code]}" probability 0`,
          expected: 'a probability above 0 for every action that was taken',
          fix: 'Correct the rules of the behaviour, or the action classes of the log.',
        });
      if (Number.isNaN(turns.behaviourLogPropensity[s]!)) continue;
      const gap = Math.abs(b - Math.exp(turns.behaviourLogPropensity[s]!));
      if (gap > AGREE) apart++;
      if (gap > most) most = gap;
    }
  const warnings: Warning[] =
    apart === 0
      ? []
      : [
          {
            code: 'behaviour-differs',
            message: `the declared behaviour gives the logged action another propensity than the logs on ${apart} turns, by up to ${most.toPrecision(2)}; weights are the logs’, the diagnostics of unlogged actions the declared`,
            count: apart,
            column: 'behaviour_log_propensity',
          },
        ];
  return { ...ratios, behaviour, warnings: [...ratios.warnings, ...warnings] };
}
