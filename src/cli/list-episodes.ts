import { formatNumber } from '../report/format.ts';
import { plain } from '../report/plain.ts';
import type { ColumnData } from '../store/batch.ts';
import { scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { returnsSql } from '../trajectories/return-sql.ts';
import type { Io } from './command.ts';

const SQL = `
  SELECT r.episode_id AS id, r.task_id AS task, r.policy AS policy, r.ending::VARCHAR AS ending,
    coalesce(n.turns, 0)::DOUBLE AS turns, r.g AS g
  FROM (${returnsSql()}) r LEFT JOIN (SELECT episode, count(*) AS turns FROM turns GROUP BY episode) n USING (episode)
  ORDER BY r.episode`;

/** One line an episode, in the order of ingestion: tab-separated with a header, or JSON Lines. Streamed. */
export async function listEpisodes(store: Store, io: Io, json: boolean): Promise<void> {
  if (!json) io.out('episode\ttask\tpolicy\tending\treturn\tturns\n');
  for await (const { rows, columns } of scan(store, SQL)) {
    const text = (name: string) => (columns[name] as Extract<ColumnData, { kind: 'text' }>).values;
    const number = (name: string) => columns[name] as Extract<ColumnData, { kind: 'f64' }>;
    const g = number('g');
    let out = '';
    for (let i = 0; i < rows; i++) {
      const [episode, task, policy, ending] = ['id', 'task', 'policy', 'ending'].map(
        (n) => text(n)[i] ?? null,
      );
      const value = g.valid && g.valid[i] === 0 ? null : g.values[i]!;
      const turns = number('turns').values[i]!;
      out += json
        ? `${JSON.stringify({ episode, task, policy, ending, return: value, turns })}\n`
        : `${[episode, task ?? '–', policy ?? '–', ending, formatNumber(value), turns]
            .map((x) => plain(String(x)).replace(/[\t\n]/g, ' '))
            .join('\t')}\n`;
    }
    io.out(out);
  }
}
