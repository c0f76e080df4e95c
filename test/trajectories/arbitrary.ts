import { fc } from '@fast-check/vitest';
import { episodeColumns } from '../../src/ingest/episode-columns.ts';
import { ENDINGS, Episode, type EpisodeInput } from '../../src/schema/episode.ts';
import { appendBatch } from '../../src/store/append.ts';
import type { Batch } from '../../src/store/batch.ts';
import { openStore, type Store } from '../../src/store/store.ts';

const number = fc.double({ min: -5, max: 5, noNaN: true }).map((x) => x + 0); // no −0
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 });
// Lone surrogates have no UTF-8; a store counts and replaces them.
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(fc.constantFrom('open', 'the', 'file', 'error', '404', 'Not', '—', '文'), { maxLength: 8 })
    .map((w) => w.join(' ')),
);

const call = fc.record({
  name: fc.constantFrom('search', 'open', 'submit'),
  arguments: fc.oneof(
    fc.constantFrom<unknown>({ q: 'a' }, { b: 1, a: [2] }, { a: [2], b: 1 }, 'ls -la', null),
    fc.record({ q: text }),
  ),
  result: maybe(text),
  error: maybe(fc.boolean()),
});

export const turn = fc.record({
  observation: maybe(text),
  action: maybe(text),
  tool_calls: fc.array(call, { maxLength: 3 }),
  tool_errors: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(3) }),
  reward: maybe(number),
  process_reward: maybe(number),
  behaviour_logprob: maybe(number),
  behaviour_log_propensity: maybe(number),
  n_action_tokens: maybe(fc.nat(500)),
  version: maybe(fc.constantFrom('v1', 'v2')),
  sampling: maybe(
    fc.record({
      temperature: maybe(fc.constantFrom(0, 1)),
      top_p: maybe(fc.constant(0.9)),
      top_k: maybe(fc.nat(9)),
    }),
  ),
  logprob_kind: maybe(fc.constantFrom('raw' as const, 'processed' as const)),
  action_class: maybe(fc.constantFrom('read', 'write')),
  features: maybe(fc.array(fc.constantFrom(0, 1, 2.5, -3), { maxLength: 3 })),
});

const segment = fc.nat(6).chain((n) => {
  const row = <T>(of: fc.Arbitrary<T>) => fc.array(of, { minLength: n, maxLength: n });
  return fc.record({
    token_ids: row(fc.nat(50_000)),
    action_mask: row(fc.boolean()),
    behaviour_logprobs: maybe(row(maybe(number))),
    versions: maybe(row(maybe(fc.nat(9)))),
    token_turn: maybe(row(maybe(fc.nat(3)))),
  });
});

/** A few episodes as a log would hold them, with ids of their own. */
export const episodes: fc.Arbitrary<Episode[]> = fc
  .array(
    fc.record({
      task_id: maybe(fc.constantFrom('t1', 't2', 't3')),
      trial: maybe(fc.nat(4)),
      policy: maybe(fc.constantFrom('a', 'b')),
      version_start: maybe(fc.constantFrom('v1', 'v2')),
      version_end: maybe(fc.constantFrom('v2')),
      ending: fc.option(fc.constantFrom(...ENDINGS), { nil: undefined }),
      reward: maybe(number),
      cost: maybe(number),
      turns: fc.array(turn, { maxLength: 4 }),
      segments: fc.array(segment, { maxLength: 2 }),
    }),
    { maxLength: 6 },
  )
  .map((records) => records.map((r, i) => Episode.parse({ ...r, ending: r.ending, episode_id: `e${i}` })));

/** Episodes of ordinary shape, from what a log would write. */
export const parse = (records: readonly Partial<EpisodeInput>[]): Episode[] =>
  records.map((r, i) => Episode.parse({ episode_id: `e${i}`, turns: [], ...r }));

/** The batches that ingest makes of them, as one file with number 0. */
export function batchesOf(records: readonly Episode[]): Batch[] {
  const columns = episodeColumns();
  for (const record of records) columns.add(record, { line: Number.NaN, byteOffset: Number.NaN });
  const block = columns.finish();
  const source = { kind: 'i32', values: new Int32Array(records.length) } as const;
  return [{ ...block.episodes, columns: { ...block.episodes.columns, source } }, block.turns, block.segments];
}

/** A store in memory that holds the records; runs `body` and closes it. */
export async function withStore<T>(
  records: readonly Episode[],
  body: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(':memory:', { mode: 'create' });
  try {
    for (const batch of batchesOf(records)) await appendBatch(store, batch);
    return await body(store);
  } finally {
    store.close();
  }
}
