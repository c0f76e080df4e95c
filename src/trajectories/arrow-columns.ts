import type { EpisodeColumns, TurnColumns } from './trajectories.ts';

/** How a column of the trajectories looks in Arrow. */
export type ArrowKind =
  | 'float64' // NaN is null
  | 'int32' // −1 is null
  | 'dictionary' // text by codes, −1 is null
  | 'ending' // a dictionary of ENDINGS
  | 'text';

export interface ArrowColumn<Key> {
  readonly key: Key;
  readonly name: string;
  readonly kind: ArrowKind;
}

const column =
  <C>() =>
  <K extends keyof C & string>(key: K, name: string, kind: ArrowKind): ArrowColumn<keyof C & string> => ({
    key,
    name,
    kind,
  });
const episode = column<EpisodeColumns>();
const turn = column<TurnColumns>();

/** One value an episode. */
export const EPISODE_COLUMNS = [
  episode('episode', 'episode', 'float64'),
  episode('id', 'episode_id', 'text'),
  episode('source', 'source', 'int32'),
  episode('task', 'task_id', 'dictionary'),
  episode('trial', 'trial', 'int32'),
  episode('policy', 'policy', 'dictionary'),
  episode('versionStart', 'version_start', 'dictionary'),
  episode('versionEnd', 'version_end', 'dictionary'),
  episode('ending', 'ending', 'ending'),
  episode('reward', 'reward', 'float64'),
  episode('cost', 'cost', 'float64'),
];

/** A list an episode, one value a turn. */
export const TURN_COLUMNS = [
  turn('turn', 'turns.turn', 'int32'),
  turn('toolErrors', 'turns.tool_errors', 'int32'),
  turn('reward', 'turns.reward', 'float64'),
  turn('processReward', 'turns.process_reward', 'float64'),
  turn('behaviourLogprob', 'turns.behaviour_logprob', 'float64'),
  turn('behaviourLogPropensity', 'turns.behaviour_log_propensity', 'float64'),
  turn('nActionTokens', 'turns.n_action_tokens', 'int32'),
  turn('version', 'turns.version', 'dictionary'),
  turn('temperature', 'turns.temperature', 'float64'),
  turn('topP', 'turns.top_p', 'float64'),
  turn('topK', 'turns.top_k', 'int32'),
  turn('logprobKind', 'turns.logprob_kind', 'dictionary'),
  turn('actionClass', 'turns.action_class', 'dictionary'),
];

/** A list of lists an episode: the values of its turns, the tokens of its segments. */
export const FEATURES = 'turns.features';
export const TOKEN_COLUMNS = {
  tokenIds: 'segments.token_ids',
  actionMask: 'segments.action_mask',
  behaviourLogprobs: 'segments.behaviour_logprobs',
  tokenTurn: 'segments.token_turn',
} as const;
