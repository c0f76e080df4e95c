import { fc, test } from '@fast-check/vitest';
import { afterEach, expect } from 'vitest';
import { appendBatch } from '../../src/store/append.ts';
import type { Batch } from '../../src/store/batch.ts';
import { BROKEN_SEQUENCES, cutPieces, cutSql, joinPieces, PIECE_TOKENS } from '../../src/store/pieces.ts';
import { queryRows, type ScanChunk, scan, valueAt } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';

let store: Store | undefined;
afterEach(() => {
  store?.close();
  store = undefined;
});
const opened = async (): Promise<Store> => (store = await openStore(':memory:', { mode: 'create' }));

/** Segments of these lengths, one an episode or all of one; token k of row i is 10,000 i + k; odd rows have no versions. */
function batchOf(lengths: readonly number[], oneEpisode: boolean): Batch {
  const n = lengths.reduce((a, b) => a + b, 0);
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    offsets[i + 1] = offsets[i]! + length;
  });
  const ids = new Int32Array(n);
  const logprobs = new Float32Array(n);
  const valid = new Uint8Array(n).fill(1);
  lengths.forEach((length, i) => {
    for (let k = 0; k < length; k++) {
      ids[offsets[i]! + k] = 10_000 * i + k;
      logprobs[offsets[i]! + k] = -k / 4;
      if (k % 3 === 0) valid[offsets[i]! + k] = 0;
    }
  });
  const rows = lengths.map((_, i) => i);
  const versionRows = rows.filter((i) => i % 2 === 0);
  const versions = Int32Array.from(
    versionRows.flatMap((i) => Array.from({ length: lengths[i]! }, (_, k) => k % 7)),
  );
  const versionOffsets = new Int32Array(lengths.length + 1);
  rows.forEach((i) => {
    versionOffsets[i + 1] = versionOffsets[i]! + (i % 2 === 0 ? lengths[i]! : 0);
  });
  return {
    table: 'segments',
    rows: lengths.length,
    columns: {
      episode: { kind: 'i64', values: Float64Array.from(rows, (i) => (oneEpisode ? 0 : i)) },
      segment: { kind: 'i32', values: Int32Array.from(rows, (i) => (oneEpisode ? i : 0)) },
      token_ids: { kind: 'list', offsets, child: { kind: 'i32', values: ids } },
      action_mask: { kind: 'list', offsets, child: { kind: 'bool', values: valid.map((v) => v) } },
      behaviour_logprobs: { kind: 'list', offsets, child: { kind: 'f32', values: logprobs, valid } },
      versions: {
        kind: 'list',
        offsets: versionOffsets,
        child: { kind: 'i32', values: versions },
        valid: Uint8Array.from(rows, (i) => (i % 2 === 0 ? 1 : 0)),
      },
    },
  };
}

const rowsOf = ({ rows, columns }: { rows: number; columns: Batch['columns'] }, names: readonly string[]) =>
  Array.from({ length: rows }, (_, i) => names.map((name) => valueAt(columns[name]!, i)));
const NAMES = ['episode', 'segment', 'token_ids', 'action_mask', 'behaviour_logprobs', 'versions'];

async function* inChunks(batch: Batch, sizes: readonly number[]): AsyncGenerator<ScanChunk> {
  const store = await opened();
  await appendBatch(store, batch);
  const select = `SELECT *, len(token_ids)::INTEGER AS n FROM segments`;
  let at = 0;
  const [all] = (await queryRows(store, 'SELECT count(*) AS n FROM segments')) as [{ n: number }];
  for (let k = 0; at < all.n; k++) {
    const size = sizes[k % sizes.length]!;
    yield* scan(store, `${select} LIMIT ${size} OFFSET ${at}`);
    at += size;
  }
}

const lengths = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom(PIECE_TOKENS - 1, PIECE_TOKENS, PIECE_TOKENS + 1, 2 * PIECE_TOKENS, 3 * PIECE_TOKENS + 5),
  ),
  { minLength: 1, maxLength: 5 },
);

test.prop([lengths, fc.boolean(), fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 })], {
  numRuns: 40,
})('what is cut is joined again, however the chunks fall', async (lengths, oneEpisode, sizes) => {
  const batch = batchOf(lengths, oneEpisode);
  const got: unknown[][] = [];
  const n: unknown[] = [];
  for await (const chunk of joinPieces(inChunks(batch, sizes), ['n'])) {
    got.push(...rowsOf(chunk, NAMES));
    n.push(...rowsOf(chunk, ['n', 'piece']));
  }
  expect(got).toEqual(rowsOf(batch, NAMES));
  expect(n).toEqual(lengths.map((length) => [length, 0]));
  store!.close();
});

test.prop([lengths], { numRuns: 20 })(
  'SQL cuts as the writer does, and both leave whole sequences',
  async (lengths) => {
    const batch = batchOf(lengths, false);
    const store = await opened();
    await appendBatch(store, batch);
    const cut = await queryRows(store, 'SELECT * FROM segments');
    expect(cut.length).toBe(
      lengths.reduce((n, length) => n + Math.max(1, Math.ceil(length / PIECE_TOKENS)), 0),
    );
    expect(await queryRows(store, BROKEN_SEQUENCES.segments)).toEqual([]);
    const whole = `(SELECT episode, segment, flatten(list(token_ids ORDER BY piece)) AS token_ids,
    flatten(list(action_mask ORDER BY piece)) AS action_mask,
    flatten(list(behaviour_logprobs ORDER BY piece)) AS behaviour_logprobs,
    CASE WHEN any_value(versions) IS NOT NULL THEN flatten(list(versions ORDER BY piece)) END AS versions,
    NULL::INTEGER[] AS token_turn FROM segments GROUP BY episode, segment ORDER BY episode)`;
    const columns = [...NAMES, 'token_turn'];
    const again = await queryRows(store, cutSql('segments', whole, columns));
    const order = [...columns, 'piece'];
    const pick = (rows: Record<string, unknown>[]) => rows.map((row) => order.map((name) => row[name]));
    expect(pick(again)).toEqual(pick(cut));
    store.close();
  },
);

test('a short segment is one row, and its lists are not copied', () => {
  const batch = batchOf([5, PIECE_TOKENS], false);
  const cut = cutPieces(batch);
  expect(cut.rows).toBe(2);
  expect(cut.columns.token_ids).toBe(batch.columns.token_ids);
  const long = cutPieces(batchOf([PIECE_TOKENS + 1], false));
  expect(long.columns.token_ids).toMatchObject({ offsets: Int32Array.of(0, PIECE_TOKENS, PIECE_TOKENS + 1) });
});

test('lists of one long segment that differ in length are refused, since they would be cut apart', async () => {
  const batch = batchOf([PIECE_TOKENS + 1], false);
  const short = {
    kind: 'list',
    offsets: Int32Array.of(0, 3),
    child: { kind: 'i32', values: new Int32Array(3) },
  } as const;
  const wrong = { ...batch, columns: { ...batch.columns, token_turn: short } };
  await expect(appendBatch(await opened(), wrong)).rejects.toThrow(
    /segments.token_turn: is not as long as token_ids at row 0 of the batch, got 3, expected 1025/,
  );
});

test('the score of a turn has no piece, that of a segment has as many as the segment', async () => {
  const store = await opened();
  const n = PIECE_TOKENS + 1;
  await appendBatch(store, {
    table: 'scores',
    rows: 2,
    columns: {
      policy: { kind: 'text', values: ['p', 'p'] },
      source: { kind: 'i32', values: new Int32Array(2) },
      trained_on: { kind: 'text', values: ['"none"', '"none"'] },
      episode: { kind: 'i64', values: new Float64Array(2) },
      turn: { kind: 'i32', values: new Int32Array(2), valid: Uint8Array.of(1, 0) },
      segment: { kind: 'i32', values: new Int32Array(2), valid: Uint8Array.of(0, 1) },
      logprob: { kind: 'f64', values: Float64Array.of(-1, 0), valid: Uint8Array.of(1, 0) },
      logprobs: {
        kind: 'list',
        offsets: Int32Array.of(0, 0, n),
        child: { kind: 'f32', values: new Float32Array(n).fill(-1) },
        valid: Uint8Array.of(0, 1),
      },
    },
  });
  const rows = await queryRows(store, 'SELECT turn, segment, piece, len(logprobs)::INTEGER AS n FROM scores');
  expect(rows.map((row) => Object.values(row))).toEqual([
    [0, null, null, null],
    [null, 0, 0, PIECE_TOKENS],
    [null, 0, 1, 1],
  ]);
  expect(await queryRows(store, BROKEN_SEQUENCES.scores)).toEqual([]);
});

test.each([
  ['a piece in the middle is lost', 'DELETE FROM segments WHERE piece = 1'],
  ['the first piece is lost', 'DELETE FROM segments WHERE piece = 0'],
  ['a piece is cut', 'UPDATE segments SET token_ids = token_ids[:5] WHERE piece = 1'],
  ['a piece is there twice', 'INSERT INTO segments SELECT * FROM segments WHERE piece = 1'],
  ['a piece is too long', 'UPDATE segments SET token_ids = token_ids || [1] WHERE piece = 1'],
])('where %s the sequence is not whole', async (_, sql) => {
  const store = await opened();
  await appendBatch(store, batchOf([3 * PIECE_TOKENS + 5], false));
  await store.connection.run(sql);
  expect(await queryRows(store, BROKEN_SEQUENCES.segments)).toEqual([{ value: 0 }]);
});
