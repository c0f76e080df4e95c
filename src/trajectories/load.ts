import { ENDINGS, type Ending } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import { queryRows, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { TrajectoryParts } from './build.ts';
import { copyNumbers, copyText, listOf, numbersOf, textOf } from './column-copy.ts';
import { episodesFilled, episodesFilling, turnsFilled, turnsFilling, wholeIndex } from './columns.ts';
import { growable, grown, growTo } from './growable.ts';
import { orderedRuns, type RowLayout, rowLayout, TURNS } from './ordered-scan.ts';
import { rewardSql } from './return-sql.ts';
import { loadTokens } from './tokens.ts';
import type { EpisodeColumns, Ragged, Trajectories, TurnColumns } from './trajectories.ts';

export interface LoadOptions extends TrajectoryParts {
  /** Only the episodes of these policies; absent: all, those without a policy among them. */
  readonly policies?: readonly string[] | undefined;
  /** Only the episodes of these ingested files, by number. */
  readonly sources?: readonly number[] | undefined;
}

/**
 * Reads the columns of a store into memory, scanned in insertion order, or sorted by the store
 * where that is not the order of (episode, turn). Text (observation, action, tool calls) stays in
 * the store. About 100 bytes a turn; O(turns).
 *
 * @throws a failure for a policy or source that is not in the store (2), for turns without an
 * episode and for a turn that is there twice (1)
 */
export async function loadTrajectories(store: Store, options: LoadOptions = {}): Promise<Trajectories> {
  const { features = true, tokens = false, policies, sources } = options;
  await checkNames(store, policies, sources);
  const episodes = await loadEpisodes(store, policies, sources);
  const complete = policies === undefined && sources === undefined;
  const layout = await rowLayout(store, TURNS, episodes.episode, complete);
  const loaded = await loadTurns(store, episodes.episode, layout, features);
  return {
    index: wholeIndex(episodes.episode.length),
    episodeOffsets: layout.offsets,
    episodes,
    turns: loaded.turns,
    features: loaded.features,
    tokens: tokens ? await loadTokens(store, episodes.episode, complete) : null,
  };
}

async function loadEpisodes(
  store: Store,
  policies: readonly string[] | undefined,
  sources: readonly number[] | undefined,
): Promise<EpisodeColumns> {
  const conditions: string[] = [];
  const parameters: (readonly string[] | readonly number[])[] = [];
  const among = (column: string, wanted: readonly string[] | readonly number[] | undefined): void => {
    if (wanted === undefined) return;
    parameters.push(wanted);
    conditions.push(`list_contains($${parameters.length}, ${column})`);
  };
  among('policy', policies);
  among('source', sources);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const count = await queryRows(store, `SELECT count(*) AS n FROM episodes${where}`, parameters);
  const c = episodesFilling(count[0]!.n as number);
  const select = `episode, episode_id, source, task_id, trial, policy, version_start, version_end, ending, ${rewardSql('reward')} AS reward, cost`;
  let row = 0;
  // Sorting what is sorted already is cheap, and episodes are few beside turns.
  const sql = `SELECT ${select} FROM episodes${where} ORDER BY episode`;
  for await (const { rows, columns } of scan(store, sql, parameters)) {
    const number = (target: Float64Array | Int32Array, name: string, empty: number): void =>
      copyNumbers(target, row, numbersOf(columns, name), 0, rows, empty);
    number(c.episode, 'episode', Number.NaN);
    number(c.source, 'source', -1);
    number(c.trial, 'trial', -1);
    number(c.reward, 'reward', Number.NaN);
    number(c.cost, 'cost', Number.NaN);
    copyText(c.task, row, textOf(columns, 'task_id'), 0, rows);
    copyText(c.policy, row, textOf(columns, 'policy'), 0, rows);
    copyText(c.versionStart, row, textOf(columns, 'version_start'), 0, rows);
    copyText(c.versionEnd, row, textOf(columns, 'version_end'), 0, rows);
    const id = textOf(columns, 'episode_id');
    const ending = textOf(columns, 'ending');
    for (let i = 0; i < rows; i++) {
      c.id[row + i] = id[i]!;
      c.ending[row + i] = endingCode(ending[i]!, id[i]!);
    }
    row += rows;
  }
  return episodesFilled(c);
}

async function loadTurns(
  store: Store,
  episodes: Float64Array,
  layout: RowLayout,
  withFeatures: boolean,
): Promise<{ turns: TurnColumns; features: Ragged | null }> {
  const S = layout.offsets.at(-1)!;
  const c = turnsFilling(S);
  const numbers: readonly (readonly [Float64Array | Int32Array, string, number])[] = [
    [c.turn, 'turn', -1],
    [c.toolErrors, 'tool_errors', -1],
    [c.reward, 'reward', Number.NaN],
    [c.processReward, 'process_reward', Number.NaN],
    [c.behaviourLogprob, 'behaviour_logprob', Number.NaN],
    [c.behaviourLogPropensity, 'behaviour_log_propensity', Number.NaN],
    [c.nActionTokens, 'n_action_tokens', -1],
    [c.temperature, 'temperature', Number.NaN],
    [c.topP, 'top_p', Number.NaN],
    [c.topK, 'top_k', -1],
  ];
  const texts = [
    [c.version, 'version'],
    [c.logprobKind, 'logprob_kind'],
    [c.actionClass, 'action_class'],
  ] as const;
  const list = withFeatures ? ['features'] : [];
  const select = [
    ...numbers.slice(1).map(([, n]) => (n === 'reward' ? `${rewardSql(n)} AS reward` : n)),
    ...texts.map(([, n]) => n),
    ...list,
  ].join(', ');
  const offsets = new Int32Array(withFeatures ? S + 1 : 0);
  const values = growable(Float64Array, Number.NaN);
  for await (const { columns, from, to, row } of orderedRuns(store, TURNS, select, episodes, layout)) {
    for (const [target, name, empty] of numbers)
      copyNumbers(target, row, numbersOf(columns, name), from, to, empty);
    for (const [target, name] of texts) copyText(target, row, textOf(columns, name), from, to);
    if (!withFeatures) continue;
    // Rows of a run follow each other, so that their values are one stretch; a null list has none.
    const { offsets: at, child } = listOf(columns, 'features');
    const before = values.length;
    growTo(values, before + at[to]! - at[from]!);
    copyNumbers(
      values.values,
      before,
      numbersOf({ features: child }, 'features'),
      at[from]!,
      at[to]!,
      Number.NaN,
    );
    for (let i = from; i < to; i++) offsets[row + i - from + 1] = before + at[i + 1]! - at[from]!;
  }
  const features = values.length === 0 ? null : { offsets, values: grown(values) };
  return { turns: turnsFilled(c), features };
}

function endingCode(ending: string, episode: string): number {
  const code = ENDINGS.indexOf(ending as Ending);
  if (code < 0)
    throw failure({
      subject: `episode ${episode}, column ending`,
      wrong: 'no such ending',
      got: ending,
      expected: ENDINGS.join(', '),
    });
  return code;
}

async function checkNames(
  store: Store,
  policies: readonly string[] | undefined,
  sources: readonly number[] | undefined,
): Promise<void> {
  const check = async (wanted: readonly (string | number)[] | undefined, column: string): Promise<void> => {
    if (wanted === undefined) return;
    const rows = await queryRows(store, `SELECT DISTINCT ${column} AS x FROM episodes ORDER BY x`);
    const known = rows.map((row) => row.x).filter((x) => x !== null);
    const unknown = wanted.find((x) => !known.includes(x));
    if (unknown === undefined && wanted.length > 0) return;
    throw failure({
      subject: column,
      wrong: wanted.length === 0 ? 'nothing is named' : 'not in this store',
      got: unknown,
      expected: `one of ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}`,
      exitCode: 2,
    });
  };
  await check(policies, 'policy');
  await check(sources, 'source');
}
