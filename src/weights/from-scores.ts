import { failure } from '../schema/error.ts';
import type { TrainedOn } from '../schema/trained-on.ts';
import type { Warning } from '../schema/warning.ts';
import type { Store } from '../store/store.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { unusableReturns } from '../trajectories/unusable-returns.ts';
import { abortedRewards } from './aborted-rewards.ts';
import { behaviourColumn, checkLogColumn, columnName } from './behaviour-column.ts';
import { percent } from './behaviour-coverage.ts';
import { heldOut } from './held-out.ts';
import type { LogRatios, Measure } from './ratios.ts';
import { requireBehaviour } from './require-behaviour.ts';
import { readScores, readSources, type ScoreColumns, scoredPolicies, scoredTrainedOn } from './scores.ts';
import { unpaidEpisodes } from './unpaid.ts';
import { withReturn } from './with-return.ts';

/**
 * Log-ratios of a policy whose log-probabilities are recorded in the store. Both policies must be
 * measured alike: over the whole action (`logprob`, which needs no declared classes and is taken
 * where both have it) or over its class (`log_propensity`), and raw or processed alike.
 * @param trainedOn instead of what the scores say
 * @throws exit code 2 for an unknown policy, 3 without the behaviour's log-probabilities
 */
export async function logRatiosFromScores(
  store: Store,
  t: Trajectories,
  policy: string,
  trainedOn?: TrainedOn,
): Promise<LogRatios> {
  const measures = requireBehaviour(t);
  const names = await scoredPolicies(store);
  if (!names.includes(policy)) throw unknownTarget(policy, names, t.episodes.policy.values);
  const trained = trainedOn ?? (await scoredTrainedOn(store, policy));
  const sources = await readSources(store);
  const scores = await readScores(store, t, policy);
  const shares: { readonly measure: Measure; readonly share: number }[] = [];
  for (const { measure, trajectories, warnings } of measures) {
    const held = heldOut(trajectories, trained, sources);
    const used = withReturn(held.trajectories);
    const target = measure === 'logprob' ? scores.logprob : scores.logPropensity;
    const share = shareOf(used, target);
    shares.push({ measure, share });
    if (share < 1) continue;
    const behaviour = behaviourColumn(t, measure);
    const noticed = [
      ...checkLogColumn(used, behaviour, columnName(measure), 'behaviour'),
      ...checkLogColumn(used, target, measure, 'target'),
      ...(measure === 'logprob' ? checkKind(used, scores, policy) : []),
    ];
    const values = new Float64Array(target.length).fill(Number.NaN);
    for (const e of used.index)
      for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++)
        values[s] = target[s]! - behaviour[s]!;
    const episodes = unpaidEpisodes(held.trajectories, used.index);
    // Where a score or a log-probability is missing the weight is NaN: not known.
    const logWeight = Float64Array.from(episodes, (e) => {
      let log = 0;
      for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) log += target[s]! - behaviour[s]!;
      return log;
    });
    return {
      target: policy,
      measure,
      trainedOn: trained,
      trajectories: held.trajectories,
      values,
      unpaid: { episodes, logWeight },
      held: { episodes: held.episodes, tasks: held.tasks, known: held.known },
      warnings: [...abortedRewards(t), ...unusableReturns(t), ...warnings, ...held.warnings, ...noticed],
      table: null,
    };
  }
  const view = withReturn(heldOut(t, trained, sources).trajectories);
  const scored = (['logprob', 'log_propensity'] as const).filter(
    (m) => shareOf(view, m === 'logprob' ? scores.logprob : scores.logPropensity) > 0,
  );
  const logged = measures.map((m) => m.measure);
  if (scored.length > 0 && !scored.some((m) => logged.includes(m)))
    throw otherMeasure(policy, scored, logged);
  // A measure that holds no score at all was not meant.
  const meant = shares.some((x) => x.share > 0) ? shares.filter((x) => x.share > 0) : shares;
  throw failure({
    subject: `target "${policy}"`,
    wrong: 'covers only some turns',
    got: meant.map((x) => `${x.measure} on ${percent(x.share)}`).join(', '),
    expected: `${meant.map((x) => x.measure).join(' or ')} on every turn, as the behaviour is logged`,
    fix: 'Score every logged turn under the target, those of unfinished episodes left aside.',
  });
}

/** Scores over whole actions beside a behaviour logged over classes, or the other way round. */
export function otherMeasure(policy: string, scored: readonly Measure[], logged: readonly Measure[]) {
  return failure({
    subject: `target "${policy}"`,
    wrong: `the scores hold ${scored.join(' and ')}, the logs hold ${logged.map(columnName).join(' and ')}`,
    expected: 'the same measure of both',
    fix: logged.includes('log_propensity')
      ? 'Score the class of the action (log_propensity), or log behaviour_logprob.'
      : 'Score the whole action (logprob), or log behaviour_log_propensity.',
  });
}

/** Whether a name that is no policy was meant as a file. */
export const looksLikePath = (name: string): boolean => /[/\\]|\.json$/i.test(name);

/**
 * A target that is neither recorded nor a file.
 * @param acting policies that made the logs
 */
export function unknownTarget(name: string, recorded: readonly string[], acting: readonly string[] = []) {
  if (acting.includes(name))
    return failure({
      subject: `target "${name}"`,
      wrong: 'acted in these logs and has no recorded scores',
      fix: 'Use turnwise compare: the value of a policy that acted is its mean return.',
      exitCode: 2,
    });
  return failure({
    subject: 'target',
    wrong: looksLikePath(name)
      ? 'no such file, and no policy with recorded scores'
      : 'is neither a policy with recorded scores nor a policy file',
    got: `"${name}"`,
    expected:
      recorded.length > 0
        ? `one of ${recorded.map((r) => `"${r}"`).join(', ')}, or the path of a policy file`
        : 'the path of a policy file (this store holds no scores)',
    exitCode: 2,
  });
}

/** Raw against processed is another distribution, not a ratio of 0.9. */
function checkKind(t: Trajectories, scores: ScoreColumns, policy: string): Warning[] {
  const { codes, values } = t.turns.logprobKind;
  const seen = new Set<number>();
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) seen.add(codes[s]!);
  const behaviour = [...seen].map((code): string | null => values[code] ?? null);
  const say = (kinds: readonly (string | null)[]) => kinds.map((kind) => kind ?? 'unknown').join(' and ');
  const known = new Set([...behaviour, ...scores.kind].filter((kind) => kind !== null));
  if (known.size > 1)
    throw failure({
      subject: `target "${policy}"`,
      wrong: 'its log-probabilities and the behaviour’s are not of the same kind',
      got: `behaviour ${say(behaviour)}, target ${say(scores.kind)}`,
      expected: 'both raw, or both processed with the same sampling parameters',
      fix: 'Score the target the way the behaviour was logged.',
    });
  if (!behaviour.includes(null) && !scores.kind.includes(null)) return [];
  return [
    {
      code: 'logprob-kind-unknown',
      message:
        'whether log-probabilities are raw or processed is not logged for both policies: a mismatch would look like a difference of policies',
      column: 'logprob_kind',
    },
  ];
}

function shareOf(t: Trajectories, values: Float64Array): number {
  let turns = 0;
  let there = 0;
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      turns++;
      if (!Number.isNaN(values[s]!)) there++;
    }
  return turns === 0 ? 1 : there / turns;
}
