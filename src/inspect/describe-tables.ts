import type { Description, Spread } from '../schema/describe.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { type Column, TABLES, type TableName } from '../store/tables.ts';
import { CALL_COUNTS } from './call-counts.ts';
import { type CallCounts, toolErrors } from './tool-errors.ts';

type Row = Record<string, unknown>;
type TablesPart = Pick<
  Description,
  | 'episodes'
  | 'turns'
  | 'endings'
  | 'turnsPerEpisode'
  | 'tokens'
  | 'versions'
  | 'columns'
  | 'tools'
  | 'scores'
  | 'sources'
  | 'rejects'
>;

/** Everything `describe` says that is a count: SQL aggregates, one pass over each table. */
export async function describeTables(store: Store): Promise<TablesPart> {
  const rows = (sql: string): Promise<Row[]> => queryRows(store, sql);
  const [{ episodes, turns, segments }] = (await rows(`SELECT (SELECT count(*) FROM episodes) AS episodes,
    (SELECT count(*) FROM turns) AS turns, (SELECT count(*) FROM segments WHERE piece = 0) AS segments`)) as [
    { episodes: number; turns: number; segments: number },
  ];
  const endings = { terminated: 0, limit: 0, truncated: 0, aborted: 0, unfinished: 0 };
  for (const row of await rows('SELECT ending, count(*) AS n FROM episodes GROUP BY ending'))
    endings[row.ending as keyof typeof endings] = row.n as number;
  return {
    episodes,
    turns,
    endings,
    turnsPerEpisode: await spread(
      store,
      'n',
      '(SELECT count(t.turn) AS n FROM episodes e LEFT JOIN turns t USING (episode) GROUP BY e.episode)',
    ),
    tokens: await tokens(store, segments),
    versions: (await rows(VERSIONS)) as Description['versions'],
    columns: [
      ...(await presence(store, 'episodes', episodes)),
      ...(await presence(store, 'turns', turns)),
      ...(await presence(store, 'segments', segments)),
    ],
    tools: (await rows(TOOLS)).map((r) => {
      const found = toolErrors(JSON.parse(r.files as string) as CallCounts[]);
      return {
        tool: r.tool as string,
        calls: found.calls,
        errors: found.failed,
        errorRate: found.rate,
        errorRateAtLeast: found.atLeast!,
        errorUnknown: found.unknown,
      };
    }),
    scores: (await rows(`SELECT policy, count(DISTINCT episode) AS episodes, count(turn) AS turns,
      count(*) FILTER (piece = 0) AS segments FROM scores GROUP BY policy ORDER BY policy`)) as Description['scores'],
    sources: (await rows(
      'SELECT path, format, sha256, bytes, episodes, turns, rejects FROM sources ORDER BY source',
    )) as Description['sources'],
    rejects: {
      count: (await rows('SELECT count(*) AS n FROM rejects'))[0]!.n as number,
      reasons: (await rows(`SELECT reason, count(*) AS count FROM rejects
        GROUP BY reason ORDER BY count DESC, reason LIMIT 20`)) as Description['rejects']['reasons'],
    },
  };
}

const VERSIONS = `
  SELECT version, count(*) AS turns, count(DISTINCT episode) AS episodes FROM (
    SELECT episode, coalesce(t.version, e.version_start) AS version FROM turns t JOIN episodes e USING (episode))
  WHERE version IS NOT NULL GROUP BY version ORDER BY turns DESC, version LIMIT 50`;

const TOOLS = `
  SELECT tool, to_json(list({failed: failed, worked: calls - failed - unknown, unknown: unknown}))::VARCHAR AS files FROM (
    SELECT name AS tool, sum(n)::BIGINT AS calls, coalesce(sum(n) FILTER (error), 0)::BIGINT AS failed,
      coalesce(sum(n) FILTER (error IS NULL), 0)::BIGINT AS unknown
    FROM ${CALL_COUNTS} JOIN episodes USING (episode) GROUP BY tool, source)
  GROUP BY tool ORDER BY sum(calls) DESC, tool LIMIT 50`;

/** Mean and quantiles of one numeric column of a table or a subquery; null where it has no value. */
async function spread(store: Store, column: string, from: string): Promise<Spread | null> {
  const [row] = await queryRows(
    store,
    `SELECT count(${column}) AS n, avg(${column}) AS mean, min(${column})::DOUBLE AS min, max(${column})::DOUBLE AS max,
      quantile_cont(${column}::DOUBLE, [0.1, 0.5, 0.9, 0.99]) AS q FROM ${from}`,
  );
  if (!row || row.n === 0) return null;
  const [p10, p50, p90, p99] = row.q as number[];
  return {
    mean: row.mean as number,
    min: row.min as number,
    p10: p10!,
    p50: p50!,
    p90: p90!,
    p99: p99!,
    max: row.max as number,
  };
}

async function tokens(store: Store, segments: number): Promise<Description['tokens']> {
  const perTurn = await spread(store, 'n_action_tokens', 'turns');
  if (segments === 0 && perTurn === null) return null;
  const [row] = (await queryRows(
    store,
    segments > 0
      ? `SELECT (SELECT sum(len(token_ids)) FROM segments)::BIGINT AS tokens, count(*) FILTER (m) AS sampled,
           count(*) FILTER (m AND lp IS NOT NULL) AS scored
         FROM (SELECT unnest(action_mask) AS m, unnest(behaviour_logprobs) AS lp FROM segments)`
      : 'SELECT 0 AS tokens, sum(n_action_tokens)::BIGINT AS sampled, NULL::BIGINT AS scored FROM turns',
  )) as [{ tokens: number; sampled: number; scored: number | null }];
  return {
    segments,
    tokens: row.tokens,
    actionTokens: row.sampled,
    withLogprob: segments === 0 || row.sampled === 0 ? null : (row.scored ?? 0) / row.sampled,
    perTurn,
  };
}

async function presence(store: Store, table: TableName, rows: number): Promise<Description['columns']> {
  if (rows === 0) return [];
  // A segment is as many rows as its tokens need.
  const columns = TABLES[table].filter((c) => c.name !== 'piece');
  const counts = columns.map((c) => `count(*) FILTER (${hasValue(c)}) AS "${c.name}"`);
  const where = table === 'segments' ? ' WHERE piece = 0' : '';
  const [row] = await queryRows(store, `SELECT ${counts.join(', ')} FROM ${table}${where}`);
  return columns.map((c) => ({ table, column: c.name, present: (row![c.name] as number) / rows }));
}

function hasValue({ name, type }: Column): string {
  if (type === 'JSON') return `${name} IS NOT NULL AND ${name}::VARCHAR NOT IN ('[]', '{}', 'null')`;
  return type.endsWith('[]') ? `len(${name}) > 0` : `${name} IS NOT NULL`;
}
