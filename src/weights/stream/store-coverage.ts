import type { BehaviourCoverage } from '../../schema/behaviour-coverage.ts';
import { queryRows } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { returnsSql } from '../../trajectories/return-sql.ts';
import { allSmall } from '../../trajectories/unusable-returns.ts';
import type { Measure } from '../ratios.ts';
import { SUMS } from '../token-sums.ts';
import { FLAG_SQL, FLAGS } from './plan.ts';

/** Where the turns are read from: the table, or with log-probabilities summed from its tokens. */
export interface TurnTable {
  readonly from: string;
  /** The behaviour's log-probability of a turn, as SQL. */
  readonly logprob: string;
}

/** The turns, with the tokens' log-probabilities where the log gives them token by token only. */
export async function turnTable(store: Store): Promise<TurnTable> {
  const [row] = await queryRows(
    store,
    'SELECT count(*) AS n FROM (SELECT 1 FROM segments WHERE behaviour_logprobs IS NOT NULL AND token_turn IS NOT NULL LIMIT 1)',
  );
  if (row!.n === 0) return { from: 'turns', logprob: 'behaviour_logprob' };
  const own = '(SELECT t.*, COALESCE(t.behaviour_logprob, x.logprob) AS logprob_of_tokens';
  return {
    from: `${own} FROM turns t LEFT JOIN (${SUMS}) x ON x.episode = t.episode AND x.turn = t.turn)`,
    logprob: 'logprob_of_tokens',
  };
}

/** How many turns of episodes with a return have what, by source. */
export interface StoreCoverage {
  readonly sources: readonly {
    readonly source: number;
    readonly episodes: number;
    readonly withTask: number;
    readonly flags: Float64Array; // [256] turns
  }[];
}

/** The episodes with a return. */
async function withReturnSql(store: Store): Promise<string> {
  if (!(await allSmall(store)))
    return `SELECT episode, source, task_id FROM (${returnsSql()}) WHERE g IS NOT NULL AND NOT isnan(g)`;
  const [bare] = await queryRows(
    store,
    "SELECT count(*) AS n FROM episodes WHERE ending <> 'aborted' AND reward IS NULL",
  );
  const paid =
    bare!.n === 0
      ? ''
      : ' AND (reward IS NOT NULL OR episode IN (SELECT episode FROM turns WHERE reward IS NOT NULL))';
  return `SELECT episode, source, task_id FROM episodes WHERE ending <> 'aborted'${paid}`;
}

/** One scan inside the engine. */
export async function storeCoverage(store: Store, { from, logprob }: TurnTable): Promise<StoreCoverage> {
  const e = await withReturnSql(store);
  const episodes = await queryRows(
    store,
    `SELECT source, count(*) AS n, count(task_id) AS tasks FROM (${e}) GROUP BY source ORDER BY source`,
  );
  const turns = await queryRows(
    store,
    `SELECT source, flags, count(*) AS n FROM (
       SELECT e.source AS source, ${FLAG_SQL(logprob)} AS flags FROM ${from} t JOIN (${e}) e ON e.episode = t.episode
     ) GROUP BY source, flags`,
  );
  return {
    sources: episodes.map(({ source, n, tasks }) => {
      const flags = new Float64Array(256);
      for (const row of turns) if (row.source === source) flags[row.flags as number] = row.n as number;
      return { source: source as number, episodes: n as number, withTask: tasks as number, flags };
    }),
  };
}

/** The sources that log nothing in a measure; null where some log it on some of their turns only. */
export function sourcesWithout({ sources }: StoreCoverage, measure: Measure): Set<number> | null {
  const flag = measure === 'logprob' ? FLAGS.logprob : FLAGS.propensity;
  const without = new Set<number>();
  for (const { source, flags } of sources) {
    const there = count(flags, flag);
    const all = flags.reduce((a, b) => a + b, 0);
    if (there === 0) without.add(source);
    else if (there < all) return null;
  }
  return without.size === sources.length ? null : without;
}

/** On what share of the turns the logs hold what weights are made of. */
export function coverageOf(
  flags: Float64Array,
  { episodes, withTask }: { readonly episodes: number; readonly withTask: number },
): BehaviourCoverage {
  const turns = flags.reduce((a, b) => a + b, 0);
  const of = (flag: number): number => (turns === 0 ? 0 : count(flags, flag) / turns);
  return {
    episodes,
    turns,
    behaviourLogPropensity: of(FLAGS.propensity),
    behaviourLogprob: of(FLAGS.logprob),
    actionClass: of(FLAGS.actionClass),
    sampling: of(FLAGS.sampling),
    logprobKind: of(FLAGS.raw | FLAGS.processed | FLAGS.otherKind),
    version: of(FLAGS.version),
    task: episodes === 0 ? 0 : withTask / episodes,
  };
}

/** All of them together. */
export function wholeCoverage({ sources }: StoreCoverage): BehaviourCoverage {
  const flags = new Float64Array(256);
  for (const s of sources)
    s.flags.forEach((x, k) => {
      flags[k] = flags[k]! + x;
    });
  return coverageOf(flags, {
    episodes: sources.reduce((n, s) => n + s.episodes, 0),
    withTask: sources.reduce((n, s) => n + s.withTask, 0),
  });
}

/** Turns with at least one of these flags. */
export function count(flags: Float64Array, some: number): number {
  return flags.reduce((sum, x, k) => ((k & some) !== 0 ? sum + x : sum), 0);
}
