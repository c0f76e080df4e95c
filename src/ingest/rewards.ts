import { stringifyExact } from '../json/exact-json.ts';
import { ExactNumber } from '../json/exact-number.ts';
import type { EpisodeInput } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import { type FormatNote, noteCounts } from './notes.ts';
import { rewardRows } from './reward-rows.ts';

type Named = NonNullable<EpisodeInput['rewards']>;

/** What a reward file says of one episode. */
export interface RewardEntry {
  /** null: the file names the episode and gives it none. */
  readonly reward: number | null;
  readonly rewards: Named | null;
  readonly task_id: string | null;
  /** What is known of the end; null: nothing. `aborted`: the trial failed before anything could be rewarded. */
  readonly ending: 'aborted' | 'limit' | null;
  /** What ended the agent, as the trial's result has it; null: nothing did. */
  readonly exception: unknown;
  /** Where it stands, for messages: `rewards.csv line 3`. */
  readonly place: string;
}

/** Rewards by the name of their episode, and what became of them. */
export interface RewardJoin {
  readonly path: string;
  readonly entries: ReadonlyMap<string, RewardEntry>;
  /** Keys that met an episode. */
  readonly used: Set<string>;
  /** What of its rows is left out. */
  readonly notes: readonly FormatNote[];
  matchedEpisodes: number;
  unmatchedEpisodes: number;
}

/**
 * Reads a reward file: JSONL, CSV with a header, or JSON; or a folder of trials, in which every
 * result.json counts. A row is {episode_id | session_id | trial_name, reward, rewards?, task_id?} or
 * Harbor's trial result {trial_name, task_name, verifier_result {rewards {reward}}}; a JSON object
 * may also map names to rewards. Two rows of one name that differ are an error naming both, and so are a column or a
 * key that stands twice.
 * Memory and time: O(rows).
 */
export async function readRewards(path: string): Promise<RewardJoin> {
  const entries = new Map<string, RewardEntry>();
  const notes = noteCounts();
  for await (const { keyed, notes: found } of rewardRows(path)) {
    notes.add(found);
    if (keyed === null) continue;
    const { key, entry } = keyed;
    const before = entries.get(key);
    if (before === undefined) entries.set(key, entry);
    else if (!sameEntry(before, entry))
      throw failure({
        subject: `${before.place} and ${entry.place}`,
        wrong: `'${key}' has two different rewards`,
        got: `${shown(before)} and ${shown(entry)}`,
        expected: 'one',
      });
  }
  return { path, entries, used: new Set(), notes: notes.list(), matchedEpisodes: 0, unmatchedEpisodes: 0 };
}

/**
 * The episode with its reward from the file, found by episode_id, else by meta.session_id, else by
 * meta.trial_name; as it is where the file has none, which is counted. Join before the ending is
 * settled: an episode that gains a reward here has ended.
 *
 * What ended the agent is kept as meta.exception. Refuses, by name, an episode that already pays another reward, at its end or in its turns (both
 * together would count it twice), or belongs to another task.
 */
export function joinReward(episode: EpisodeInput, join: RewardJoin): EpisodeInput {
  const key = keysOf(episode).find((name) => join.entries.has(name));
  if (key === undefined) {
    join.unmatchedEpisodes++;
    return episode;
  }
  const entry = join.entries.get(key)!;
  refuseConflict(episode, entry);
  join.used.add(key);
  join.matchedEpisodes++;
  const reward = episode.reward ?? entry.reward;
  const ending = entry.ending === 'aborted' && reward !== null ? null : entry.ending;
  const { exception } = entry;
  const meta = episode.meta ?? {};
  return {
    ...episode,
    reward,
    rewards: episode.rewards ?? entry.rewards,
    task_id: episode.task_id ?? entry.task_id,
    ...(ending === null ? {} : { ending }),
    ...(exception === null || Object.hasOwn(meta, 'exception') ? {} : { meta: { ...meta, exception } }),
  };
}

/** Keys of the file that met no episode. */
export function unmatchedKeys(join: RewardJoin): number {
  return join.entries.size - join.used.size;
}

/** The first key of the file that no episode has met; undefined: none is left. */
export function firstUnmatched({ entries, used }: RewardJoin): string | undefined {
  for (const key of entries.keys()) if (!used.has(key)) return key;
  return undefined;
}

function keysOf(episode: EpisodeInput): string[] {
  const meta = episode.meta ?? {};
  const names: unknown[] = [episode.episode_id];
  for (const key of ['session_id', 'trial_name']) if (Object.hasOwn(meta, key)) names.push(meta[key]);
  return names.flatMap((name) => {
    if (name instanceof ExactNumber) return [name.text];
    // A session that is a number is its digits, as every name is.
    return typeof name === 'number' ? [String(name)] : typeof name === 'string' ? [name] : [];
  });
}

function refuseConflict(episode: EpisodeInput, entry: RewardEntry): void {
  const subject = `episode '${episode.episode_id}'`;
  const logged = episode.reward ?? null;
  if (entry.reward !== null && logged !== null && logged !== entry.reward)
    throw failure({
      subject,
      wrong: `its reward is ${logged} in the log and ${entry.reward} in ${entry.place}`,
      fix: 'Leave the reward out of one of them.',
    });
  const paid = episode.turns.some((turn) => (turn.reward ?? 0) !== 0);
  if (entry.reward !== null && logged === null && paid)
    throw failure({
      subject,
      wrong: `its turns already pay rewards; ${entry.place} would pay ${entry.reward} on top`,
      fix: 'Leave it out of the reward file, or log it as the reward of the episode.',
    });
  const task = episode.task_id ?? null;
  if (entry.task_id !== null && task !== null && task !== entry.task_id)
    throw failure({
      subject,
      wrong: `its task is '${task}' in the log and '${entry.task_id}' in ${entry.place}`,
    });
}

function sameEntry(a: RewardEntry, b: RewardEntry): boolean {
  const key = (entry: RewardEntry) =>
    stringifyExact([entry.reward, entry.rewards, entry.task_id, entry.ending, entry.exception]);
  return key(a) === key(b);
}

function shown(entry: RewardEntry): string {
  return entry.reward === null ? 'no reward' : String(entry.reward);
}
