import { classesNotLogged } from '../policy/classes-not-logged.ts';
import { matchRules, namesTasks } from '../policy/match-rules.ts';
import type { PolicyFile } from '../policy/policy-file.ts';
import { unmatchedRules } from '../policy/rules-unmatched.ts';
import { failure } from '../schema/error.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { unusableReturns } from '../trajectories/unusable-returns.ts';
import { abortedRewards } from './aborted-rewards.ts';
import { behaviourColumn, checkLogColumn } from './behaviour-column.ts';
import { heldOut, type SourceName } from './held-out.ts';
import type { LogRatios, UnpaidWeights } from './ratios.ts';
import { requireBehaviour } from './require-behaviour.ts';
import { unpaidEpisodes } from './unpaid.ts';
import { withReturn } from './with-return.ts';

/**
 * Log-ratios of a declared tabular policy, in the measure of action classes:
 * log π(class | s) − behaviour_log_propensity. O(turns × rules).
 * Episodes of tasks that the target was trained on are left out of the view.
 * @param sources of the store, where `trained_on` names files
 * @throws where a turn has no action class, no rule covers it, or the propensity is not one
 */
export function logRatiosFromPolicyFile(
  all: Trajectories,
  file: PolicyFile,
  sources: readonly SourceName[] = [],
): LogRatios {
  const [logged] = requireBehaviour(all, 'log_propensity');
  const held = heldOut(logged.trajectories, file.trained_on, sources);
  const t = withReturn(held.trajectories);
  const behaviour = behaviourColumn(t, 'log_propensity');
  const warnings = checkLogColumn(t, behaviour, 'behaviour_log_propensity', 'behaviour');
  const { rule, cell, cells } = matchRules(t, file);
  const { codes, values: seen } = t.turns.actionClass;
  const classes = [...new Set([...seen, ...file.rules.flatMap((r) => Object.keys(r.probabilities))])];
  const pi = Float64Array.from(
    file.rules.flatMap((r) =>
      classes.map((name) => (Object.hasOwn(r.probabilities, name) ? r.probabilities[name]! : 0)),
    ),
  ); // [rules × classes]
  const A = classes.length;
  const values = new Float64Array(codes.length).fill(Number.NaN);
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      if (codes[s]! < 0)
        throw failure({
          subject: `episode ${t.episodes.id[e]} turn ${t.turns.turn[s]}, column action_class`,
          wrong: `is missing, so target "${file.policy}" gives its action no probability`,
          fix: 'Declare the class of every action in the log.',
        });
      values[s] = Math.log(pi[rule[s]! * A + codes[s]!]!) - behaviour[s]!;
    }
  const probabilities = new Float64Array(cells.length * A);
  cells.forEach((c, i) => {
    probabilities.set(pi.subarray(c.rule * A, (c.rule + 1) * A), i * A);
  });
  const matched = new Set(cells.map((c) => c.rule));
  const noticed =
    t.index.length === 0
      ? []
      : [...classesNotLogged(file, seen), ...unmatchedRules(file, (r) => matched.has(r))];
  return {
    target: file.policy,
    measure: 'log_propensity',
    trainedOn: file.trained_on,
    trajectories: held.trajectories,
    values,
    unpaid: unpaid(),
    held: { episodes: held.episodes, tasks: held.tasks, known: held.known },
    warnings: [
      ...abortedRewards(all),
      ...unusableReturns(all),
      ...logged.warnings,
      ...held.warnings,
      ...warnings,
      ...noticed,
    ],
    table: {
      cell,
      rule,
      cells: cells.map((c) => c.name),
      cellOfTask: Uint8Array.from(cells, (c) => (namesTasks(file, c.rule) ? 1 : 0)),
      classes,
      probabilities,
    },
  };

  /** Weights of the episodes without a return, as far as they can be formed: what the value leaves out. */
  function unpaid(): UnpaidWeights {
    const episodes = unpaidEpisodes(held.trajectories, t.index);
    const whole = episodes.filter((e) => {
      for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++)
        if (codes[s]! < 0 || !(behaviour[s]! <= 0)) return false;
      return true;
    });
    const logWeight = new Float64Array(episodes.length).fill(Number.NaN);
    if (whole.length === 0) return { episodes, logWeight };
    let found: Int32Array;
    try {
      found = matchRules({ ...t, index: whole }, file).rule;
    } catch {
      return { episodes, logWeight }; // A state that no rule covers: nothing is known of the weight there.
    }
    const known = new Set(whole);
    episodes.forEach((e, i) => {
      if (!known.has(e)) return;
      let log = 0;
      for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++)
        log += Math.log(pi[found[s]! * A + codes[s]!]!) - behaviour[s]!;
      logWeight[i] = log;
    });
    return { episodes, logWeight };
  }
}
