import type { Finding, Severity } from '../schema/check.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** Something to look for in a store, as SQL. */
export interface Rule {
  readonly code: string;
  readonly severity: Severity;
  /** table.column the examples name. */
  readonly column: string;
  readonly message: string;
  readonly fix: string;
  /** The offending rows; see `offending`. */
  readonly sql: string;
}

/** How many examples a finding shows. */
export const EXAMPLES = 5;
/** Where logged text is cut. */
export const VALUE_LENGTH = 120;

interface Offending {
  readonly from: string;
  /** SQL expressions; absent: null. */
  readonly episode?: string;
  readonly turn?: string;
  readonly segment?: string;
  readonly value?: string;
  /** Number that orders the examples; default by episode, then turn or segment. */
  readonly place?: string;
  /** Rows that one result row stands for; default 1. */
  readonly n?: string;
}

/** A query for the rows a rule is about. */
export function offending({
  from,
  episode = 'episode',
  turn,
  segment,
  value,
  place,
  n = '1',
}: Offending): string {
  return `SELECT ${episode} AS episode, ${turn ?? 'NULL'} AS turn, ${segment ?? 'NULL'} AS segment,
    ${value ?? 'NULL'} AS value, ${place ?? 'NULL'} AS place, ${n} AS n ${from}`;
}

/** The finding of a rule, or null. Only the count and the first few rows are held. */
export async function runRule(store: Store, rule: Rule): Promise<Finding | null> {
  const [row] = await queryRows(
    store,
    `SELECT coalesce(sum(n), 0)::BIGINT AS n,
       arg_min(to_json({episode: episode, turn: turn, segment: segment, value: left(value::VARCHAR, ${VALUE_LENGTH})})::VARCHAR,
         coalesce(place::HUGEINT, episode::HUGEINT * 4294967296 + coalesce(turn, segment, 0)), ${EXAMPLES}) AS examples
     FROM (${rule.sql})`,
  );
  const count = row!.n as number;
  if (count === 0) return null;
  const found = (row!.examples as string[]).map(
    (text) =>
      JSON.parse(text) as {
        episode: number | null;
        turn: number | null;
        segment: number | null;
        value: string;
      },
  );
  const names = await episodeIds(
    store,
    found.flatMap((e) => e.episode ?? []),
  );
  return {
    code: rule.code,
    severity: rule.severity,
    message: rule.message,
    count,
    examples: found.map((e) => ({
      episode: e.episode === null ? null : (names.get(e.episode) ?? null),
      turn: e.turn,
      segment: e.segment,
      column: rule.column,
      value: e.value,
    })),
    fix: rule.fix,
  };
}

/** Names of some episodes by their number in the store. */
export async function episodeIds(store: Store, episodes: readonly number[]): Promise<Map<number, string>> {
  if (episodes.length === 0) return new Map();
  const list = [...new Set(episodes)].map((e) => String(e)).join(', ');
  const rows = await queryRows(store, `SELECT episode, episode_id FROM episodes WHERE episode IN (${list})`);
  return new Map(rows.map((r) => [r.episode as number, r.episode_id as string]));
}
