import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { parseSplit } from '../../src/ingest/canonical-line.ts';
import { segmentScanner } from '../../src/ingest/segment-scan.ts';
import { settled as settledNumbers } from '../../src/ingest/settled-numbers.ts';
import { parseExact } from '../../src/json/exact-json.ts';
import { Episode } from '../../src/schema/episode.ts';
import { episodes } from './arbitrary-episode.ts';

const scanner = segmentScanner();

/** The record the fast path read, its segments as the schema has them; null: left to the slow path. */
function fast(bytes: Buffer): unknown {
  const split = parseSplit(bytes, 0, bytes.length, scanner);
  if (!split) return null;
  const list = (a: Float64Array | null) => a && Array.from(a, (v) => (Number.isNaN(v) ? null : v));
  const segments = split.segments.map((s) => ({
    token_ids: list(s.token_ids),
    action_mask: list(s.action_mask),
    behaviour_logprobs: list(s.behaviour_logprobs),
    versions: list(s.versions),
    token_turn: list(s.token_turn),
  }));
  return { ...split.record, segments };
}

/** The mask spelt one way, and float32 as the column holds it. */
function settled(record: unknown): unknown {
  const parsed = Episode.safeParse(settledNumbers(record));
  if (!parsed.success) return null;
  const segments = parsed.data.segments.map((s) => ({
    ...s,
    token_ids: s.token_ids.map((v) => v + 0),
    action_mask: s.action_mask.map(Number),
    behaviour_logprobs: s.behaviour_logprobs?.map((v) => (v === null ? null : Math.fround(v))) ?? null,
  }));
  return { ...parsed.data, segments };
}

test.prop([episodes({ withSegments: true }), fc.constantFrom(0, 1)])(
  'the fast path takes well-formed token records and reads what the schema reads',
  (episode, indent) => {
    const text = JSON.stringify(episode, null, indent);
    const read = fast(Buffer.from(text));
    expect(read).not.toBeNull();
    expect(settled(read)).toEqual(settled(parseExact(text)));
  },
);

test.prop([episodes({ withSegments: true }), fc.nat(), fc.constantFrom(...'0159.,-eE[]{}":ntfs\\ \u00e9')], {
  numRuns: 3000,
})('what the schema refuses the fast path never takes, wherever a character is changed', (episode, at, c) => {
  const text = JSON.stringify(episode);
  const p = at % text.length;
  // Through bytes, as half a surrogate pair does not survive them.
  const changed = Buffer.from(text.slice(0, p) + c + text.slice(p + 1)).toString();
  const read = fast(Buffer.from(changed));
  if (read === null) return;
  let record: unknown = null;
  try {
    record = parseExact(changed);
  } catch {
    // Then the fast path must not have taken it.
  }
  expect(settled(read)).toEqual(settled(record));
});

test.each([
  ['two of them', '{"episode_id":"a","turns":[],"segments":[],"segments":[]}'],
  ['the second no array', '{"episode_id":"a","turns":[],"segments":[],"segments":null}'],
  ['escaped in its key', '{"episode_id":"a","turns":[],"segments":[],"\\u0073egments":null}'],
  ['only in meta', '{"episode_id":"a","turns":[],"meta":{"segments":[]}}'],
  ['only as a value', '{"episode_id":"segments","turns":[]}'],
  ['running into the next line', '{"episode_id":"a","turns":[],"segments":[{"token_ids":[1'],
])('leaves a record to the slow path: segments %s', (_, text) => {
  const bytes = Buffer.from(`${text}\n,2],"action_mask":[0,1]}]}`);
  expect(parseSplit(bytes, 0, text.length, scanner)).toBeNull();
});

test.each([
  ['arrays of different lengths', '{"token_ids":[1,2],"action_mask":[true]}'],
  ['log-probabilities of another length', '{"token_ids":[1],"action_mask":[true],"behaviour_logprobs":[]}'],
  ['no mask', '{"token_ids":[1]}'],
  ['an id beyond 32 bits', '{"token_ids":[2147483648],"action_mask":[true]}'],
  ['an id that is a fraction', '{"token_ids":[1.5],"action_mask":[true]}'],
  ['an id that is null', '{"token_ids":[null],"action_mask":[true]}'],
  ['an id that is a truth value', '{"token_ids":[true],"action_mask":[true]}'],
  ['a mask of 2', '{"token_ids":[1],"action_mask":[2]}'],
  ['a mask of null', '{"token_ids":[1],"action_mask":[null]}'],
  [
    'a log-probability that is a truth value',
    '{"token_ids":[1],"action_mask":[1],"behaviour_logprobs":[true]}',
  ],
  ['a log-probability beyond a float', '{"token_ids":[1],"action_mask":[1],"behaviour_logprobs":[-1e39]}'],
  ['an unknown column', '{"token_ids":[1],"action_mask":[1],"logprobs":[-1]}'],
  ['a column twice', '{"token_ids":[1],"token_ids":[1],"action_mask":[1]}'],
])('leaves a segment to the slow path: %s', (_, segment) => {
  const bytes = Buffer.from(`{"episode_id":"a","turns":[],"segments":[${segment}]}`);
  expect(parseSplit(bytes, 0, bytes.length, scanner)).toBeNull();
});

test('a brace or a quote in a text moves nothing', () => {
  const episode = {
    episode_id: 'a"}],{\\',
    meta: { x: '"segments":[' },
    segments: [{ token_ids: [1, 2], action_mask: [false, true] }],
    turns: [],
  };
  const read = fast(Buffer.from(JSON.stringify(episode)));
  expect(settled(read)).toEqual(settled(episode));
});
