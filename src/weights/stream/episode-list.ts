import { ENDINGS } from '../../schema/episode.ts';
import { queryRows, scan } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { type Coder, coded, coder } from '../../trajectories/coder.ts';
import { copyNumbers, copyText, numbersOf, textOf } from '../../trajectories/column-copy.ts';
import { wholeIndex } from '../../trajectories/columns.ts';
import { rewardSql } from '../../trajectories/return-sql.ts';
import type { Coded, Trajectories } from '../../trajectories/trajectories.ts';

/**
 * The episodes of a store without their turns and without their names: about 40 bytes each. A
 * `Trajectories` of episodes of no turns, for what looks at episodes only (held-out tasks, clusters).
 */
export async function episodeList(store: Store): Promise<Trajectories> {
  const [count] = await queryRows(store, 'SELECT count(*) AS n FROM episodes');
  const E = count!.n as number;
  // In memory that threads share.
  const episode = new Float64Array(new SharedArrayBuffer(8 * E));
  const source = new Int32Array(E);
  const task: Coder = { ...coder(0), codes: new Int32Array(new SharedArrayBuffer(4 * E)).fill(-1) };
  const ending = new Uint8Array(E);
  const reward = new Float64Array(new SharedArrayBuffer(8 * E));
  const names = ENDINGS.map((name) => `'${name}'`).join(', ');
  const sql = `SELECT episode, source, task_id, list_position([${names}], ending) - 1 AS ending, ${rewardSql('reward')} AS reward FROM episodes ORDER BY episode`;
  let row = 0;
  for await (const { rows, columns } of scan(store, sql)) {
    copyNumbers(episode, row, numbersOf(columns, 'episode'), 0, rows, Number.NaN);
    copyNumbers(source, row, numbersOf(columns, 'source'), 0, rows, -1);
    copyNumbers(reward, row, numbersOf(columns, 'reward'), 0, rows, Number.NaN);
    copyNumbers(ending, row, numbersOf(columns, 'ending'), 0, rows, 255);
    copyText(task, row, textOf(columns, 'task_id'), 0, rows);
    row += rows;
  }
  const none: Coded = { codes: new Int32Array(0), values: [] };
  const whole = new Int32Array(0);
  const doubles = new Float64Array(0);
  return {
    index: wholeIndex(E),
    episodeOffsets: new Int32Array(E + 1),
    episodes: {
      episode,
      id: [],
      source,
      task: coded(task),
      trial: whole,
      policy: none,
      versionStart: none,
      versionEnd: none,
      ending,
      reward,
      cost: doubles,
    },
    turns: {
      turn: whole,
      toolErrors: whole,
      reward: doubles,
      processReward: doubles,
      behaviourLogprob: doubles,
      behaviourLogPropensity: doubles,
      nActionTokens: whole,
      version: none,
      temperature: doubles,
      topP: doubles,
      topK: whole,
      logprobKind: none,
      actionClass: none,
    },
    features: null,
    tokens: null,
  };
}
