import { episodeEnding, toolErrors } from '../ingest/settle.ts';
import { ENDINGS, type Episode } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import { setCode } from './coder.ts';
import { episodesFilled, episodesFilling, turnsFilled, turnsFilling, wholeIndex } from './columns.ts';
import { tokensOfEpisodes } from './tokens.ts';
import type { EpisodeColumns, Ragged, Trajectories, TurnColumns } from './trajectories.ts';

/** What is loaded beside the columns that always are. */
export interface TrajectoryParts {
  /** The logged features of the turns; default true. */
  readonly features?: boolean | undefined;
  /** The tokens of the segments; default false. */
  readonly tokens?: boolean | undefined;
}

/**
 * Columns of episodes in memory, the same that a store gives which ingested them as its only file.
 * Episode e is episodes[e]. Fails on an episode id that comes twice and on turns out of order.
 */
export function trajectoriesFromEpisodes(
  episodes: readonly Episode[],
  { features = true, tokens = false }: TrajectoryParts = {},
): Trajectories {
  const episodeOffsets = new Int32Array(episodes.length + 1);
  for (let e = 0; e < episodes.length; e++)
    episodeOffsets[e + 1] = episodeOffsets[e]! + episodes[e]!.turns.length;
  return {
    index: wholeIndex(episodes.length),
    episodeOffsets,
    episodes: episodeColumns(episodes),
    turns: turnColumns(episodes, episodeOffsets.at(-1)!),
    features: features ? featuresOf(episodes, episodeOffsets.at(-1)!) : null,
    tokens: tokens ? tokensOfEpisodes(episodes) : null,
  };
}

function episodeColumns(episodes: readonly Episode[]): EpisodeColumns {
  const c = episodesFilling(episodes.length);
  const seen = new Set<string>();
  for (let e = 0; e < episodes.length; e++) {
    const from = episodes[e]!;
    if (seen.has(from.episode_id))
      throw failure({ subject: `episode ${from.episode_id}`, wrong: 'the id comes twice' });
    seen.add(from.episode_id);
    c.episode[e] = e;
    c.id[e] = from.episode_id;
    c.source[e] = 0;
    setCode(c.task, e, from.task_id);
    c.trial[e] = from.trial ?? -1;
    setCode(c.policy, e, from.policy);
    setCode(c.versionStart, e, from.version_start);
    setCode(c.versionEnd, e, from.version_end);
    c.ending[e] = ENDINGS.indexOf(episodeEnding(from));
    c.reward[e] = from.reward ?? Number.NaN;
    c.cost[e] = from.cost ?? Number.NaN;
  }
  return episodesFilled(c);
}

function turnColumns(episodes: readonly Episode[], S: number): TurnColumns {
  const c = turnsFilling(S);
  let s = 0;
  for (const { episode_id, turns } of episodes) {
    let last = -1;
    for (let k = 0; k < turns.length; k++, s++) {
      const from = turns[k]!;
      const turn = from.turn ?? k;
      if (turn <= last)
        throw failure({ subject: `episode ${episode_id}, turn ${turn}`, wrong: `comes after turn ${last}` });
      last = turn;
      c.turn[s] = turn;
      c.toolErrors[s] = toolErrors(from) ?? -1;
      c.reward[s] = from.reward ?? Number.NaN;
      c.processReward[s] = from.process_reward ?? Number.NaN;
      c.behaviourLogprob[s] = from.behaviour_logprob ?? Number.NaN;
      c.behaviourLogPropensity[s] = from.behaviour_log_propensity ?? Number.NaN;
      c.nActionTokens[s] = from.n_action_tokens ?? -1;
      setCode(c.version, s, from.version);
      c.temperature[s] = from.sampling?.temperature ?? Number.NaN;
      c.topP[s] = from.sampling?.top_p ?? Number.NaN;
      c.topK[s] = from.sampling?.top_k ?? -1;
      setCode(c.logprobKind, s, from.logprob_kind);
      setCode(c.actionClass, s, from.action_class);
    }
  }
  return turnsFilled(c);
}

/** Null where no turn has any, as a store gives them. */
function featuresOf(episodes: readonly Episode[], S: number): Ragged | null {
  const offsets = new Int32Array(S + 1);
  const values: number[] = [];
  let s = 0;
  for (const { turns } of episodes)
    for (const { features } of turns) {
      if (features !== null) for (const x of features) values.push(x);
      offsets[++s] = values.length;
    }
  return values.length === 0 ? null : { offsets, values: Float64Array.from(values) };
}
