import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingestErrors } from '../../src/cli/ingest-text.ts';
import { ingest, openStore, type Store } from '../../src/index.ts';

const line = (k: number) =>
  `${JSON.stringify({ episode_id: `e${k}`, reward: 1, turns: [{ action: 'a' }] })}\n`;
const lines = Array.from({ length: 20 }, (_, k) => line(k)).join('');

/** A header of POSIX tar and the file behind it, in blocks of 512 bytes. */
function tar(text: string): Buffer {
  const header = Buffer.alloc(512);
  header.write('log.jsonl');
  header.write(`${text.length.toString(8).padStart(11, '0')} `, 124);
  header.write('ustar\0', 257);
  return Buffer.concat([header, Buffer.from(text), Buffer.alloc(1024)]);
}

/** A zip of one stored file: its local header, and then the text as it is. */
function zip(text: string): Buffer {
  const header = Buffer.alloc(39);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt16LE(9, 26);
  header.write('log.jsonl', 30);
  return Buffer.concat([header, Buffer.from(text), Buffer.from('PK\x05\x06', 'latin1')]);
}

let folder: string;
let store: Store;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'foreign-'));
  store = await openStore(':memory:', { mode: 'create' });
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ingested(name: string, bytes: string | Uint8Array) {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const result = await ingest(store, [path], { idPrefix: `${name}/` });
  return { ...result.files[0]!, errors: ingestErrors(result) };
}

describe('what holds logs, and is no log', () => {
  test.each<[name: string, bytes: Uint8Array, is: RegExp]>([
    ['stored.zip', zip(lines), /is a zip archive/],
    ['zip.jsonl', zip(lines), /is a zip archive/],
    ['log.tar', tar(lines), /is a tar archive/],
    ['log.tar.gz', gzipSync(tar(lines)), /is a tar archive/],
    ['twice.jsonl.gz', gzipSync(gzipSync(lines)), /compressed twice/],
    ['frame.jsonl', Buffer.concat([Buffer.from([4, 0x22, 0x4d, 0x18]), Buffer.from(lines)]), /by lz4/],
    ['log.jsonl.bz2', Buffer.from('BZh91AY&SY'), /by bzip2/],
    ['log.jsonl.xz', Buffer.from('\xfd7zXZ\0\0', 'latin1'), /by xz/],
    ['marked.jsonl', Buffer.from(`\ufeff${lines}`, 'utf16le'), /UTF-16/],
    ['unmarked.jsonl', Buffer.from(lines, 'utf16le'), /UTF-16/],
  ])('%s is refused by name: its first record would be lost', async (name, bytes, is) => {
    const file = await ingested(name, bytes);
    expect(file).toMatchObject({ status: 'failed', episodes: 0 });
    expect(file.error).toMatch(is);
  });
});

describe('a JSON array that is none', () => {
  const array = `[${lines.trim().replaceAll('\n', ',')}]`;
  test.each<[name: string, text: string, episodes: number]>([
    ['cut.json', array.slice(0, -40), 19],
    ['open.json', array.slice(0, -1), 20],
    ['two.json', `${array}\n[${line(77)}]`, 20],
    ['quote.json', array.replace('"e7"', '"e7'), 7],
    ['tail.json', `${array}garbage`, 20],
  ])(
    '%s: what came before is kept, and that the rest was not read is an error, again too',
    async (name, text, episodes) => {
      const file = await ingested(name, text);
      expect(file).toMatchObject({ status: 'added', episodes, rejects: 1 });
      expect(file.errors).toEqual([
        expect.stringMatching(/not a JSON array.*nothing behind that place was read/),
      ]);
      const again = await ingested(name, text);
      expect(again.status).toBe('known');
      expect(again.errors).toEqual(file.errors);
    },
  );

  test('a whole one is none of this', async () => {
    expect((await ingested('whole.json', array)).errors).toEqual([]);
  });
});

describe('tables that would be read as something else', () => {
  const arrow = (ids: readonly string[]) =>
    tableToIPC(
      new Table({
        episode_id: vectorFromArray(ids),
        turns: vectorFromArray(ids.map(() => '[{"action": "a"}]')),
      }),
      'file',
    );

  test('two Arrow files, one behind the other', async () => {
    expect((await ingested('one.arrow', arrow(['a', 'b']))).episodes).toBe(2);
    const file = await ingested('two.arrow', Buffer.concat([arrow(['c', 'd']), arrow(['e', 'f'])]));
    expect(file).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/more than one Arrow file/),
    });
  });

  test('an Arrow file without a batch is empty still', async () => {
    expect((await ingested('none.arrow', arrow([]))).status).toBe('empty');
  });

  // Written by pyarrow 26; DuckDB writes none of these.
  test.each([
    ['decimal-of-60-digits', /column reward: is a decimal of 60 digits/],
    ['keys-that-differ-in-case', /column meta\.a: is there beside A/],
    ['column-without-a-name', /column "": has no name/],
  ])('%s.parquet', async (name, wrong) => {
    const bytes = readFileSync(`test/fixtures/ingest/${name}.parquet`);
    const file = await ingested(`${name}.parquet`, bytes);
    expect(file).toMatchObject({ status: 'failed', episodes: 0 });
    expect(file.error).toMatch(wrong);
  });
});
