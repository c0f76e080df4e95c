import { failure } from '../schema/error.ts';
import { TrainedOn } from '../schema/trained-on.ts';
import { queryRows, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { numbersOf, textOf } from '../trajectories/column-copy.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { SourceName } from './held-out.ts';
import { episodeRows, SUM_OF_TOKENS, turnRow } from './token-sums.ts';

/** Names of the policies that a store holds log-probabilities of. */
export async function scoredPolicies(store: Store): Promise<string[]> {
  const rows = await queryRows(store, 'SELECT DISTINCT policy FROM scores ORDER BY policy');
  return rows.map((row) => row.policy as string);
}

/** Names of the policies that made the logs of a store. */
export async function actedPolicies(store: Store): Promise<string[]> {
  const rows = await queryRows(
    store,
    'SELECT DISTINCT policy FROM episodes WHERE policy IS NOT NULL ORDER BY policy',
  );
  return rows.map((row) => row.policy as string);
}

/** The files of a store. */
export async function readSources(store: Store): Promise<SourceName[]> {
  const rows = await queryRows(store, 'SELECT source, path, sha256 FROM sources ORDER BY source');
  return rows as unknown as SourceName[];
}

/** What a scored policy says it was trained on; several files must agree. */
export async function scoredTrainedOn(store: Store, policy: string): Promise<TrainedOn> {
  const rows = await queryRows(
    store,
    'SELECT DISTINCT trained_on::VARCHAR AS trained_on FROM scores WHERE policy = $1 ORDER BY 1',
    [policy],
  );
  if (rows.length !== 1)
    throw failure({
      subject: `scores of "${policy}"`,
      wrong: 'say different things of what the policy was trained on',
      got: rows.map((row) => row.trained_on).join(' and '),
      expected: 'one trained_on',
    });
  const parsed = TrainedOn.safeParse(JSON.parse(rows[0]!.trained_on as string));
  if (parsed.success) return parsed.data;
  throw failure({
    subject: `scores of "${policy}", column trained_on`,
    wrong: 'is not understood',
    got: rows[0]!.trained_on as string,
    expected: '"none", "unknown" or {"sources": […], "tasks": […]}',
  });
}

/** A policy's log-probabilities on the logged turns, aligned with the turns of the trajectories. */
export interface ScoreColumns {
  readonly logprob: Float64Array; // [S], NaN where there is none
  readonly logPropensity: Float64Array; // [S]
  readonly kind: readonly (string | null)[]; // distinct kinds of `logprob`
}

/** A turn's own score, or the sum of a segment's scores over the action tokens of the turn. */
export const SCORES = `
  SELECT episode, turn, logprob, log_propensity, logprob_kind
  FROM scores WHERE policy = $1 AND turn IS NOT NULL
  UNION ALL
  SELECT episode, turn,
         ${SUM_OF_TOKENS}, NULL, any_value(logprob_kind)
  FROM (
    SELECT s.episode AS episode, s.segment AS segment, s.logprob_kind AS logprob_kind, s.source AS source,
           unnest(g.token_turn) AS turn, unnest(g.action_mask) AS action, unnest(s.logprobs) AS lp
    FROM scores s JOIN segments g ON g.episode = s.episode AND g.segment = s.segment AND g.piece = s.piece
    WHERE s.policy = $1 AND s.segment IS NOT NULL
  ) WHERE action AND turn IS NOT NULL
  GROUP BY episode, turn, source`;

/** Reads the scores of one policy. O(scores); no object per row. */
export async function readScores(store: Store, t: Trajectories, policy: string): Promise<ScoreColumns> {
  const S = t.turns.turn.length;
  const logprob = new Float64Array(S).fill(Number.NaN);
  const logPropensity = new Float64Array(S).fill(Number.NaN);
  const seen = new Uint8Array(S);
  const kinds = new Set<string | null>();
  const rowOf = episodeRows(t);
  for await (const chunk of scan(store, SCORES, [policy])) {
    const episode = numbersOf(chunk.columns, 'episode').values;
    const turn = numbersOf(chunk.columns, 'turn').values;
    const lp = numbersOf(chunk.columns, 'logprob').values;
    const propensity = numbersOf(chunk.columns, 'log_propensity').values;
    const kind = textOf(chunk.columns, 'logprob_kind');
    for (let i = 0; i < chunk.rows; i++) {
      const e = rowOf.get(episode[i]!);
      if (e === undefined) continue;
      const s = turnRow(t, e, turn[i]!);
      if (s < 0) continue;
      if (seen[s]++)
        throw failure({
          subject: `scores of "${policy}"`,
          wrong: `episode ${t.episodes.id[e]} turn ${turn[i]} is scored twice`,
          fix: 'Give each scoring run a policy name of its own.',
        });
      logprob[s] = lp[i]!;
      logPropensity[s] = propensity[i]!;
      if (!Number.isNaN(lp[i]!)) kinds.add(kind[i]!);
    }
  }
  return { logprob, logPropensity, kind: [...kinds] };
}
