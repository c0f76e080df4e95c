import { appendBatch } from '../store/append.ts';
import type { Batch } from '../store/batch.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { listWriter, numberWriter, textWriter } from './column-writer.ts';
import { countPositive } from './episode-columns.ts';
import { jsonText } from './json-text.ts';
import type { Reject } from './rejects.ts';
import type { PlacedScore } from './score-blocks.ts';

/** Appends scores of one file, within its transaction, `prefix` before each episode_id; those that fit no logged turn or segment come back. */
export interface ScoreWriter {
  write(scores: readonly PlacedScore[]): Promise<readonly Reject[]>;
  readonly scores: number;
  /** Log-probabilities and log-propensities above 0. */
  readonly positive: number;
}

export function scoreWriter(store: Store, source: number, prefix: string): ScoreWriter {
  let written = 0;
  let positive = 0;
  return {
    get scores() {
      return written;
    },
    get positive() {
      return positive;
    },
    async write(given) {
      const scores = prefix === '' ? given : given.map((placed) => prefixed(placed, prefix));
      const logged = await loggedRows(store, scores);
      const rejects: Reject[] = [];
      const kept: { placed: PlacedScore; episode: number }[] = [];
      for (const placed of scores) {
        const episode = logged.episodes.get(placed.score.episode_id);
        const reason = unusable(placed, episode, logged);
        if (reason === undefined) {
          kept.push({ placed, episode: episode! });
          const { logprob, log_propensity, logprobs } = placed.score;
          positive += countPositive([logprob, log_propensity]) + countPositive(logprobs ?? []);
          logged.scored.add(scoreKey(placed.score.policy, episode!, placed.score.turn, placed.score.segment));
        } else rejects.push({ ...placed, reason });
      }
      await appendBatch(store, scoreBatch(source, kept));
      written += kept.length;
      return rejects;
    },
  };
}

function prefixed(placed: PlacedScore, prefix: string): PlacedScore {
  return { ...placed, score: { ...placed.score, episode_id: prefix + placed.score.episode_id } };
}

/** What the store holds on the episodes that a block of scores names. */
interface LoggedRows {
  readonly episodes: ReadonlyMap<string, number>;
  /** "episode/turn" */
  readonly turns: ReadonlySet<string>;
  /** Tokens of "episode/segment". */
  readonly segments: ReadonlyMap<string, number>;
  readonly scored: Set<string>;
}

/** Four queries a block, each a scan of a narrow column. */
async function loggedRows(store: Store, scores: readonly PlacedScore[]): Promise<LoggedRows> {
  const names = [...new Set(scores.map((s) => s.score.episode_id))];
  const found = await queryRows(
    store,
    'SELECT episode_id, episode FROM episodes WHERE episode_id IN (SELECT unnest($1))',
    [names],
  );
  const episodes = new Map(found.map((r) => [r.episode_id as string, r.episode as number]));
  const numbers = [...episodes.values()];
  const of = (select: string, more = '') =>
    numbers.length === 0
      ? Promise.resolve([])
      : queryRows(store, `${select} WHERE episode IN (SELECT unnest($1))${more}`, [numbers]);
  const turns = await of('SELECT episode, turn FROM turns');
  const segments = await of(
    'SELECT episode, segment, sum(len(token_ids))::BIGINT AS tokens FROM segments',
    ' GROUP BY ALL',
  );
  const scored = await of('SELECT DISTINCT policy, episode, turn, segment FROM scores');
  return {
    episodes,
    turns: new Set(turns.map((r) => `${r.episode}/${r.turn}`)),
    segments: new Map(segments.map((r) => [`${r.episode}/${r.segment}`, r.tokens as number])),
    scored: new Set(
      scored.map((r) =>
        scoreKey(
          r.policy as string,
          r.episode as number,
          r.turn as number | null,
          r.segment as number | null,
        ),
      ),
    ),
  };
}

function unusable(
  { score }: PlacedScore,
  episode: number | undefined,
  logged: LoggedRows,
): string | undefined {
  const name = `"${score.episode_id}"`;
  if (episode === undefined) return `episode_id: ${name} is not in the store`;
  if (score.turn !== undefined && !logged.turns.has(`${episode}/${score.turn}`))
    return `turn: episode ${name} has no turn ${score.turn}`;
  if (score.segment !== undefined) {
    const tokens = logged.segments.get(`${episode}/${score.segment}`);
    if (tokens === undefined) return `segment: episode ${name} has no segment ${score.segment}`;
    if (tokens !== score.logprobs!.length)
      return `logprobs: length differs from the segment's tokens, got ${score.logprobs!.length}, expected ${tokens}`;
  }
  if (logged.scored.has(scoreKey(score.policy, episode, score.turn, score.segment)))
    return `policy: "${score.policy}" has already scored ${score.turn === undefined ? `segment ${score.segment}` : `turn ${score.turn}`} of episode ${name}`;
  return undefined;
}

function scoreKey(
  policy: string,
  episode: number,
  turn: number | null | undefined,
  segment: number | null | undefined,
): string {
  return `${episode}/${turn ?? ''}/${segment ?? ''}/${policy}`;
}

function scoreBatch(
  source: number,
  rows: readonly { readonly placed: PlacedScore; readonly episode: number }[],
): Batch {
  const writers = {
    policy: textWriter(),
    source: numberWriter('i32'),
    trained_on: textWriter(),
    episode: numberWriter('i64'),
    turn: numberWriter('i32'),
    segment: numberWriter('i32'),
    logprob: numberWriter('f64'),
    log_propensity: numberWriter('f64'),
    logprobs: listWriter('f32'),
    logprob_kind: textWriter(),
  };
  for (const { placed, episode } of rows) {
    const { score } = placed;
    writers.policy.push(score.policy);
    writers.source.push(source);
    writers.trained_on.push(jsonText(score.trained_on));
    writers.episode.push(episode);
    writers.turn.push(score.turn ?? null);
    writers.segment.push(score.segment ?? null);
    writers.logprob.push(score.logprob);
    writers.log_propensity.push(score.log_propensity);
    writers.logprobs.push(score.logprobs);
    writers.logprob_kind.push(score.logprob_kind);
  }
  const columns = Object.entries(writers).flatMap(([name, writer]) => {
    const data = writer.finish();
    return data ? [[name, data] as const] : [];
  });
  return { table: 'scores', rows: rows.length, columns: Object.fromEntries(columns) };
}
