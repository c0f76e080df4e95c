import type { SavedCritic } from '../schema/saved-critic.ts';
import type { Warning } from '../schema/warning.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { type FittedOn, fittedOn } from '../trajectories/fitted-on.ts';
import { countWords } from '../weights/words.ts';

/**
 * The critics whose turn values a store holds, each compared with the episodes that are there now.
 * O(turn values), and `fittedOn` once for each set of policies; nothing where no values are kept.
 */
export async function savedCritics(store: Store): Promise<SavedCritic[]> {
  const rows = await queryRows(store, SQL);
  const held = new Map<string, FittedOn>();
  const critics: SavedCritic[] = [];
  for (const row of rows) {
    const critic = stored(row);
    const key = JSON.stringify(critic.policies);
    if (critic.method !== null && !held.has(key)) held.set(key, await fittedOn(store, critic.policies));
    const reason = changed(row, critic, held.get(key));
    critics.push({
      ...critic,
      state: critic.method === null ? 'unknown' : reason === null ? 'current' : 'stale',
      reason,
      fix: reason === null ? null : `run ${command(critic)} again`,
    });
  }
  return critics;
}

const SQL = `
  SELECT critic, coalesce(v.n, 0) AS n, c.* EXCLUDE (critic, fitted_at),
    strftime(c.fitted_at, '%Y-%m-%dT%H:%M:%SZ') AS fitted_at
  FROM (SELECT critic, count(*) AS n FROM turn_values GROUP BY critic) v FULL JOIN critics c USING (critic)
  ORDER BY critic`;

type Row = Record<string, unknown>;

function stored(row: Row): SavedCritic {
  const json = (name: string) => (row[name] === null ? null : JSON.parse(row[name] as string));
  return {
    critic: row.critic as string,
    values: row.n as number,
    state: 'current',
    reason: null,
    fix: null,
    method: row.method as string | null,
    config: json('config'),
    policies: json('policies'),
    sources: json('sources'),
    episodes: row.episodes as number | null,
    turns: row.turns as number | null,
    fittedAt: row.fitted_at as string | null,
    quality: json('quality'),
    markRule: row.mark_rule as string | null,
  };
}

/** What tells the episodes it was fitted on from those held now; null: nothing. */
function changed(row: Row, critic: SavedCritic, now: FittedOn | undefined): string | null {
  if (critic.method === null || now === undefined)
    return 'of unknown origin: kept by an older Turnwise, or imported without table "critics"; the store does not say on which episodes it was fitted';
  const { episodes, turns, values, policies } = critic;
  if (values !== turns) return `holds ${countWords(values)} of its ${countWords(turns!)} turn values`;
  const of = policies === null ? '' : ` of ${policies.map(word).join(', ')}`;
  const fitted = `fitted on ${countWords(episodes!)} finished episodes${of}`;
  if (now.episodes !== episodes) return `${fitted}, the store now holds ${countWords(now.episodes)}`;
  if (now.names !== row.names) return `${fitted}, the store now holds as many, under other names`;
  if (now.contents !== row.contents)
    return `${fitted}, whose rewards, tasks or turns have changed since in the store`;
  return null;
}

/** As a shell takes it: what is in a name is a name. */
const word = (text: string): string =>
  /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function command({ critic, policies }: SavedCritic): string {
  const of = (policies ?? []).map((policy) => ` --policy ${word(policy)}`).join('');
  return `turnwise credit --save-as ${word(critic)}${of}`;
}

/** One warning for each critic whose values may not be of the episodes that the store holds. */
export function staleWarnings(critics: readonly SavedCritic[]): Warning[] {
  return critics
    .filter((c) => c.state !== 'current')
    .map((c) => ({
      code: c.state === 'stale' ? 'stale-critic' : 'critic-of-unknown-origin',
      message: `critic ${JSON.stringify(c.critic)}: ${c.reason}; ${c.fix}`.replaceAll('\n', '\\n'),
    }));
}
