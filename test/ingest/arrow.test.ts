import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fc, test as property } from '@fast-check/vitest';
import { Field, List, Struct, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { unlz4 } from '../../src/ingest/arrow/lz4.ts';
import { readArrow } from '../../src/ingest/arrow/read-arrow.ts';
import { importTables } from '../../src/ingest/import-tables.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { exportArrow, tableToArrow } from '../../src/store/arrow.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-arrow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let store: Store;
beforeEach(async () => {
  store?.close();
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
});
afterAll(() => store.close());
let count = 0;
function write(bytes: Uint8Array): string {
  const path = join(folder, `${count++}.arrow`);
  writeFileSync(path, bytes);
  return path;
}
/** `n` episodes of one turn each. */
const turnsOf = (n: number) => {
  const turn = new Struct([new Field('action', new Utf8(), true)]);
  const type = new List(new Field('item', turn, true));
  return vectorFromArray(
    Array.from({ length: n }, () => [{ action: 'a' }]),
    type,
  );
};
/** Two record batches of three episodes each. */
const log = (): Table => {
  const batch = (from: number) =>
    new Table({
      episode_id: vectorFromArray(
        [0, 1, 2].map((k) => `e${from + k}`),
        new Utf8(),
      ),
      turns: turnsOf(3),
    });
  return batch(0).concat(batch(3));
};
async function* once(bytes: Uint8Array) {
  yield bytes;
}
const POLARS = resolve(import.meta.dirname, '../../../shared/found/07-arrow-of-polars/log.arrow');

test.skipIf(!existsSync(POLARS))(
  `what polars writes by default is read${existsSync(POLARS) ? '' : ' (skipped: no ../shared/found)'}`,
  async () => {
    expect((await ingest(store, [POLARS])).files[0]).toMatchObject({ episodes: 1, turns: 1, rejects: 0 });
    expect(await queryRows(store, 'SELECT episode_id, task_id, reward FROM episodes')).toEqual([
      { episode_id: 'r0', task_id: 't', reward: 1 },
    ]);
  },
);

describe('what is cut is named, and nothing of it is kept', () => {
  for (const kind of ['file', 'stream'] as const)
    test(`a ${kind}, cut at every place`, async () => {
      const bytes = tableToIPC(log(), kind);
      let refused = 0;
      for (let length = 8; length < bytes.length; length += 8) {
        const { files } = await ingest(store, [write(bytes.subarray(0, length))], { format: 'arrow' });
        expect(files[0]).toMatchObject({ status: 'failed', episodes: 0 });
        expect(files[0]!.error).toMatch(/\.arrow: is not valid Arrow \(.*\)/);
        refused++;
      }
      expect(refused).toBeGreaterThan(50);
      expect(await queryRows(store, 'SELECT count(*) AS n FROM episodes')).toEqual([{ n: 0 }]);
      expect((await ingest(store, [write(bytes)])).files[0]).toMatchObject({ episodes: 6, rejects: 0 });
    });

  test('a stream between two batches, plain and in gzip', async () => {
    const whole = tableToIPC(log(), 'stream');
    const one = tableToIPC(log().slice(0, 3), 'stream');
    // Up to the marker of the end: the schema and the first batch.
    const between = whole.subarray(0, one.length - 8);
    for (const bytes of [between, gzipSync(between)]) {
      const { files } = await ingest(store, [write(bytes)]);
      expect(files[0]!.error).toMatch(/is not valid Arrow \(it is cut: no marker of its end\)/);
    }
    for (const bytes of [whole, gzipSync(whole), gzipSync(tableToIPC(log(), 'file'))]) {
      const fresh = await openStore(':memory:', { mode: 'create', threads: 1 });
      expect((await ingest(fresh, [write(bytes)])).files[0]).toMatchObject({ episodes: 6, rejects: 0 });
      fresh.close();
    }
    const { files } = await ingest(store, [write(Buffer.concat([whole, whole]))]);
    expect(files[0]!.error).toMatch(/something stands behind the marker of its end/);
  });

  test('import of a stream that is cut between two batches', async () => {
    const part = (from: number) =>
      tableToArrow(
        store,
        `SELECT 'e' || i AS episode_id, 'stale' AS reason FROM range(${from}, ${from + 9}) t(i)`,
      );
    const two = (await part(0)).concat(await part(9));
    expect(two.batches).toHaveLength(2);
    const whole = tableToIPC(two, 'stream');
    const between = tableToIPC(new Table([two.batches[0]!]), 'stream').length - 8;
    await expect(importTables(store, [write(whole.subarray(0, between))])).rejects.toThrow(
      /is not valid Arrow \(it is cut: no marker of its end\)/,
    );
    expect(await queryRows(store, 'SELECT count(*) AS n FROM censored')).toEqual([{ n: 0 }]);
    await importTables(store, [write(whole)]);
    expect(await queryRows(store, 'SELECT count(*) AS n FROM censored')).toEqual([{ n: 18 }]);
  });
});

describe('a header that lies is refused at once', () => {
  /** Writes a 64-bit number over each place in the metadata where `was` stands. */
  function lying(bytes: Uint8Array, was: bigint, now: bigint): Buffer[] {
    const out: Buffer[] = [];
    for (let at = 0; at + 8 <= bytes.length; at += 4)
      if (Buffer.from(bytes).readBigInt64LE(at) === was) {
        const copy = Buffer.from(bytes);
        copy.writeBigInt64LE(now, at);
        out.push(copy);
      }
    return out;
  }
  const rows = 77;
  const log77 = (): Table =>
    new Table({
      episode_id: vectorFromArray(Array.from({ length: rows }, (_, k) => `e${k}`)),
      turns: turnsOf(rows),
    });

  test.each([1_000_000_000n, 2n ** 62n, -1n, 2n ** 31n])(
    '%s rows, nulls or bytes where 77 are',
    async (lie) => {
      for (const kind of ['file', 'stream'] as const) {
        const lies = lying(tableToIPC(log77(), kind), 77n, lie);
        expect(lies.length).toBeGreaterThan(3);
        for (const bytes of lies) {
          const { files } = await ingest(store, [write(bytes)], { format: 'arrow' });
          expect(files[0]).toMatchObject({ status: 'failed', rejects: 0 });
          expect(files[0]!.error).toMatch(/is not valid Arrow/);
        }
      }
    },
  );

  const originals = { file: tableToIPC(log(), 'file'), stream: tableToIPC(log(), 'stream') };
  property.prop(
    [
      fc.constantFrom('file' as const, 'stream' as const),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }),
    ],
    { numRuns: 300 },
  )('bytes changed at random: read or refused, never a crash or a hang', async (kind, changes) => {
    const bytes = Buffer.from(originals[kind]);
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    try {
      const { batches, close } = await readArrow('x', once(bytes));
      for await (const batch of batches) expect(batch.numRows).toBeLessThan(10_000);
      await close();
    } catch (error) {
      expect(String((error as Error).message)).toMatch(/^x: is not valid Arrow|^column /);
    }
  });
});

describe('LZ4 frames', () => {
  const frame = (...blocks: number[]) =>
    Uint8Array.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, ...blocks, 0, 0, 0, 0]);
  test('a block by hand: literals, a copy that overlaps itself, the end', () => {
    // "abc", then 9 bytes from 3 back, then "Z".
    const block = [0x35, 0x61, 0x62, 0x63, 3, 0, 0x10, 0x5a];
    const bytes = frame(block.length, 0, 0, 0, ...block);
    expect(Buffer.from(unlz4(bytes, 13)).toString()).toBe('abcabcabcabcZ');
    expect(() => unlz4(bytes, 14)).toThrow(/shorter than it says/);
    expect(() => unlz4(bytes, 12)).toThrow(/damaged/);
  });
  test('a stored block', () => {
    expect(Buffer.from(unlz4(frame(3, 0, 0, 0x80, 1, 2, 3), 3))).toEqual(Buffer.from([1, 2, 3]));
  });
  test('a copy from before the start', () => {
    expect(() => unlz4(frame(8, 0, 0, 0, 0x35, 0x61, 0x62, 0x63, 9, 0, 0x10, 0x5a), 13)).toThrow(/damaged/);
  });
});

test('an import of Arrow holds one record batch, not the file', async () => {
  const text = 'x'.repeat(20_000);
  await store.connection.run(
    `INSERT INTO censored (episode_id, reason) SELECT 'e' || i, '${text}' || i FROM range(6000) t(i)`,
  );
  const path = join(folder, 'censored.arrow');
  await exportArrow(store, 'censored', path);
  const { batches, close } = await readArrow(
    path,
    once(readFileSync(path).subarray(0, 8)),
    readFileSync(path).length,
  );
  let most = 0;
  let rows = 0;
  for await (const batch of batches) {
    most = Math.max(most, batch.data.byteLength);
    rows += batch.numRows;
  }
  await close();
  expect(rows).toBe(6000);
  expect(most).toBeLessThan(60e6);
});

test('text that is no UTF-8 is refused by name', async () => {
  const table = await tableToArrow(store, "SELECT 'PLACEHOLDER' AS episode_id, 'x' AS reason");
  const bytes = Buffer.from(tableToIPC(table, 'stream'));
  bytes.set([0xff, 0xfe], bytes.indexOf('PLACEHOLDER'));
  await expect(importTables(store, [write(bytes)])).rejects.toThrow();
  const good = new Table({
    episode_id: vectorFromArray(['one', 'PLACEHOLDER'], new Utf8()),
    turns: turnsOf(2),
  });
  const bad = Buffer.from(tableToIPC(good, 'stream'));
  bad.set([0xff, 0xfe], bad.indexOf('PLACEHOLDER'));
  const { files } = await ingest(store, [write(bad)]);
  expect(files[0]).toMatchObject({ episodes: 1, rejects: 1 });
  expect(files[0]!.firstRejects[0]!.reason).toBe('row 2: episode_id: is no text: not valid UTF-8');
});
