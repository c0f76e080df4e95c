/*
 * The one definition of a tool error rate.
 *
 *   rate     = failed / (failed + worked)            where successes can be known
 *   at least = failed / (failed + worked + unknown)  always
 *
 * Chat logs often mark failures only. Among calls with a known outcome every one has then failed, and the
 * rate over those would be 100 % whatever happened. Successes can be known in a log file where no call is
 * unknown, or where some call is marked as having worked and at least half of all have an outcome. Several
 * files are looked at one by one: a file that marks successes says nothing of one that does not.
 */
import type { ToolErrors } from '../schema/tool-errors.ts';
import { type Parameters, queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** Calls of one log file by what became of them. */
export interface CallCounts {
  readonly failed: number;
  readonly worked: number;
  readonly unknown: number;
}

/** The counts of several files together, with the rate where each of them lets it be known. */
export function toolErrors(files: readonly CallCounts[]): ToolErrors {
  const total = { failed: 0, worked: 0, unknown: 0 };
  for (const f of files) {
    total.failed += f.failed;
    total.worked += f.worked;
    total.unknown += f.unknown;
  }
  const known = total.failed + total.worked;
  const calls = known + total.unknown;
  return {
    calls,
    ...total,
    rate: known > 0 && files.every(successesKnown) ? total.failed / known : null,
    atLeast: calls === 0 ? null : total.failed / calls,
  };
}

const successesKnown = ({ failed, worked, unknown }: CallCounts): boolean =>
  unknown === 0 || (worked > 0 && failed + worked >= unknown);

/**
 * Calls of each turn t by what became of them, SQL: `failed`, `calls` and `unknown`. What a turn says of
 * itself (tool_errors) counts; else its calls one by one, so that one that does not say leaves the others known. A turn
 * whose calls could not be read (null) made one at least.
 */
export const CALLS_OF_TURN = `
  SELECT episode, tool_errors IS NOT NULL AS told, coalesce(tool_errors, failed, 0) AS failed,
    CASE WHEN tool_errors IS NULL THEN coalesce(unknown, 1) ELSE 0 END AS unknown,
    greatest(coalesce(calls, CASE WHEN tool_errors IS NULL THEN 1 ELSE 0 END), coalesce(tool_errors, 0)) AS calls
  FROM (SELECT episode, tool_errors, len(c) AS calls, len(list_filter(c, x -> x.error)) AS failed,
      len(list_filter(c, x -> x.error IS NULL)) AS unknown
    FROM (SELECT episode, tool_errors, from_json(tool_calls, '[{"error": "BOOLEAN"}]') AS c FROM turns))`;

/** Tool errors of the chosen episodes e, one a value of `key`; a streaming aggregate over the turns. */
export async function toolErrorsBy(
  store: Store,
  key: string,
  where = 'true',
  parameters?: Parameters,
): Promise<Map<string | null, ToolErrors>> {
  const rows = await queryRows(
    store,
    `SELECT ${key} AS key, sum(t.failed)::BIGINT AS failed, sum(t.unknown)::BIGINT AS unknown, sum(t.calls)::BIGINT AS calls
     FROM episodes e JOIN (${CALLS_OF_TURN}) t USING (episode) WHERE ${where} GROUP BY key, e.source`,
    parameters,
  );
  const files = new Map<string | null, CallCounts[]>();
  for (const row of rows) {
    const [failed, unknown, calls] = [row.failed, row.unknown, row.calls] as [number, number, number];
    const name = row.key as string | null;
    if (!files.has(name)) files.set(name, []);
    files.get(name)!.push({ failed, unknown, worked: calls - failed - unknown });
  }
  return new Map([...files].map(([name, of]) => [name, toolErrors(of)]));
}
