import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { type BuiltCli, buildCli, line } from './built-cli.ts';

let cli: BuiltCli;
let store: string;
let count = 0;
beforeAll(() => {
  cli = buildCli();
  write('kept.jsonl', line('kept'));
  expect(cli.run(['ingest', 'kept.jsonl', '--store', 'template.duckdb'])).toMatchObject({ code: 0 });
});
afterAll(() => cli.remove());
/** Every test starts from a store that holds one episode, which must survive whatever comes. */
beforeEach(() => {
  store = join(cli.folder, `${count++}.duckdb`);
  copyFileSync(join(cli.folder, 'template.duckdb'), store);
});

function write(name: string, content: string | Buffer): string {
  writeFileSync(join(cli.folder, name), content);
  return name;
}
const ingest = (file: string, ...more: string[]) => cli.run(['ingest', file, '--store', store, ...more]);

async function rows(sql: string): Promise<Record<string, unknown>[]> {
  const open = await openStore(store, { mode: 'read' });
  try {
    return await queryRows(open, sql);
  } finally {
    open.close();
  }
}
const stored = async () =>
  (await rows('SELECT episode_id FROM episodes ORDER BY episode')).map((r) => r.episode_id);
const noTrace = (text: string) => expect(text).not.toMatch(/\n\s+at |node:internal|TypeError|RangeError/);

describe('a bad line is rejected with its place and its reason, the others are kept', () => {
  const turns = '"ending":"terminated","turns":[{"action":"a"}]';
  const segment = (s: string) => `{"episode_id":"x",${turns},"segments":[${s}]}`;
  const bad: [string, string | Buffer, RegExp][] = [
    ['cut off', '{"episode_id":"x","turns":[{"act', /^not JSON: unterminated string/],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), /^not valid UTF-8$/],
    ['NaN', `{"episode_id":"x",${turns},"reward":NaN}`, /^not JSON: unexpected token 'N'/],
    ['Infinity', `{"episode_id":"x",${turns},"reward":-Infinity}`, /^not JSON: /],
    [
      '1e999 as a reward',
      `{"episode_id":"x",${turns},"reward":1e999}`,
      /^reward: expected number, received Infinity/,
    ],
    [
      '1e999 as a log-probability',
      segment('{"token_ids":[1],"action_mask":[true],"behaviour_logprobs":[-1e999]}'),
      /behaviour_logprobs\[0\]: .*Infinity/,
    ],
    [
      'a number as text',
      `{"episode_id":"x",${turns},"reward":"1"}`,
      /^reward: expected number, received string$/,
    ],
    ['no episode_id', `{${turns}}`, /^episode_id: is missing, expected string$/],
    ['an empty episode_id', `{"episode_id":"",${turns}}`, /^episode_id: /],
    ['no turns', '{"episode_id":"x"}', /^turns: is missing/],
    [
      'an unknown column',
      `{"episode_id":"x",${turns},"rewrad":1}`,
      /^unknown column "rewrad" \(did you mean "reward"\?\)$/,
    ],
    ['a negative turn', '{"episode_id":"x","turns":[{"turn":-1}]}', /^turns\[0\]\.turn: /],
    [
      'turns out of order',
      '{"episode_id":"x","turns":[{"turn":2},{"turn":1}]}',
      /^turns\[1\]\.turn: does not increase, got 1 after 2/,
    ],
    ['an array', '[1,2]', /^expected object, received array$/],
    ['a number', '17', /^expected object, received number$/],
    ['an ending that is none', `{"episode_id":"x","ending":"done","turns":[]}`, /^ending: /],
    [
      'mask of another length',
      segment('{"token_ids":[1,2],"action_mask":[true]}'),
      /^segments\[0\]\.action_mask: length differs from token_ids, got 1, expected 2$/,
    ],
    [
      'a token id beyond 32 bits',
      segment('{"token_ids":[3000000000],"action_mask":[1]}'),
      /token_ids\[0\]: is beyond a 32-bit integer, got 3000000000/,
    ],
    [
      'a fractional token id',
      segment('{"token_ids":[1.5],"action_mask":[1]}'),
      /^segments\[0\]\.token_ids\[0\]: /,
    ],
    ['a mask of 2', segment('{"token_ids":[1],"action_mask":[2]}'), /^segments\[0\]\.action_mask\[0\]: /],
    [
      'a null token id',
      segment('{"token_ids":[null],"action_mask":[1]}'),
      /^segments\[0\]\.token_ids\[0\]: expected number, received null$/,
    ],
    [
      'a log-probability beyond float',
      segment('{"token_ids":[1],"action_mask":[1],"behaviour_logprobs":[-1e39]}'),
      /is beyond a 32-bit float/,
    ],
    [
      'nested beyond reason',
      `{"episode_id":"x",${turns},"meta":{"a":${'['.repeat(20000)}${']'.repeat(20000)}}}`,
      /^nested deeper than 512 levels$/,
    ],
    [
      'an id twice in the file',
      line('one-23', { reward: 1 }).trimEnd(),
      /^id-conflict: episode_id "one-23" is that of another episode, from this file \(its reward differs\)/,
    ],
    [
      'an id of the store',
      line('kept', { turns: [{ action: 'b' }] }).trimEnd(),
      /^id-conflict: episode_id "kept" is that of another episode, from kept\.jsonl \(its turns\[0\]\.action differs\)/,
    ],
    [
      'a lone surrogate in a name',
      `{"episode_id":"a\\ud800",${turns}}`,
      /^episode_id: holds a lone surrogate/,
    ],
  ];
  let out: string;
  let ids: unknown[];
  const rejects = new Map<string, Record<string, unknown>>();
  const first = (k: number) => line(`one-${k}`);

  /** Each bad line stands between two good ones in a file of its own; one command reads them all. */
  beforeAll(async () => {
    store = join(cli.folder, 'bad-lines.duckdb');
    copyFileSync(join(cli.folder, 'template.duckdb'), store);
    bad.forEach(([, content], k) => {
      const parts = [first(k), content, `\n${line(`three-${k}`)}`].map((p) => Buffer.from(p as string));
      write(`bad-${k}.jsonl`, Buffer.concat(parts));
    });
    const done = ingest('bad-*.jsonl');
    out = done.out;
    // Two of them bear the names of other episodes.
    expect(done).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^(error: .*\(id-conflict\).*\n){2}$/),
    });
    noTrace(out);
    ids = await stored();
    const found = await rows(
      'SELECT s.path, r.line, r.byte_offset, r.reason FROM rejects r JOIN sources s ON r.source = s.source',
    );
    for (const r of found) rejects.set(r.path as string, r);
    expect(found).toHaveLength(bad.length);
  });

  test.each(bad.map(([name, , reason], k) => [name, k, reason] as const))('%s', (_, k, reason) => {
    const place = `line 2, byte ${Buffer.byteLength(first(k))}`;
    expect(out).toContain(`bad-${k}.jsonl: canonical, 2 episodes, 2 turns, 1 reject`);
    expect(out).toContain(`\n  rejected ${place}: `);
    expect(ids).toEqual(expect.arrayContaining(['kept', `one-${k}`, `three-${k}`]));
    const reject = rejects.get(`bad-${k}.jsonl`)!;
    expect(reject).toMatchObject({ line: 2, byte_offset: Buffer.byteLength(first(k)) });
    expect(reject.reason).toMatch(reason);
  });

  test('nothing else came in', () => expect(ids).toHaveLength(1 + 2 * bad.length));
});

test('the last line, cut short, is rejected and says so', async () => {
  write('cut.jsonl', line('one') + line('two').slice(0, 30));
  const { code, out } = ingest('cut.jsonl');
  expect(code).toBe(0);
  expect(out).toMatch(
    /line 2, byte \d+: not JSON: .*the last line has no line end: the file may be cut short/,
  );
  expect(await stored()).toEqual(['kept', 'one']);
});

test('a last line without a line end that is whole is kept', async () => {
  write('whole.jsonl', (line('one') + line('two')).trimEnd());
  expect(ingest('whole.jsonl').code).toBe(0);
  expect(await stored()).toEqual(['kept', 'one', 'two']);
});

test('suspicious values are kept for `check`: positive log-probabilities, sentinels of 0.0', async () => {
  const segments = [{ token_ids: [1, 2], action_mask: [false, true], behaviour_logprobs: [0.0, 0.5] }];
  write('odd.jsonl', line('odd', { segments }));
  expect(ingest('odd.jsonl').out).toContain('1 episode, 1 turn, 0 rejects');
  expect(await rows('SELECT behaviour_logprobs FROM segments')).toEqual([{ behaviour_logprobs: [0, 0.5] }]);
});

test('a line of 200 MB is rejected with its place, and the process stays small', async () => {
  const chunk = Buffer.alloc(1 << 20, 'x');
  const long = Buffer.concat([
    Buffer.from('{"episode_id":"'),
    ...new Array(200).fill(chunk),
    Buffer.from('"}'),
  ]);
  write('long.jsonl', Buffer.concat([Buffer.from(line('one')), long, Buffer.from(`\n${line('three')}`)]));
  write('short.jsonl', line('short'));
  const small = ingest('short.jsonl');
  const { code, out, peakMB } = ingest('long.jsonl');
  expect(code).toBe(0);
  expect(out).toContain('long.jsonl: canonical, 2 episodes, 2 turns, 1 reject');
  expect(out).toMatch(
    /rejected line 2, byte \d+: record is 2097152\d\d bytes long, more than the limit of 67108864 \(--max-record-mb\)/,
  );
  // The limit, what it grew from, and an excerpt; the line itself would be 200.
  expect(peakMB - small.peakMB).toBeLessThan(180);
  expect(await stored()).toEqual(['kept', 'short', 'one', 'three']);
  const [{ excerpt }] = (await rows('SELECT excerpt FROM rejects')) as [{ excerpt: string }];
  expect(excerpt).toMatch(/^\{"episode_id":"x+…$/);
  expect(excerpt.length).toBeLessThan(200);
});

test('--max-record-mb moves the limit', async () => {
  write('big.jsonl', line('big', { meta: { text: 'y'.repeat(2 << 20) } }) + line('small'));
  expect(ingest('big.jsonl', '--max-record-mb', '1', '--strict').code).toBe(1);
  expect(ingest('big.jsonl', '--max-record-mb', '3').code).toBe(0);
  expect(await stored()).toEqual(['kept', 'big', 'small']);
  const { code, err } = ingest('big.jsonl', '--max-record-mb', '0');
  expect([code, err]).toEqual([2, expect.stringContaining('--max-record-mb')]);
});

test('--strict: one reject and nothing of the file is kept, nor of its rejects', async () => {
  write('strict.jsonl', `${line('one')}{"bad"\n${line('three')}`);
  const { code, out, err } = ingest('strict.jsonl', '--strict');
  expect(code).toBe(1);
  expect(out).toContain('strict.jsonl: canonical, refused: 1 reject, nothing kept');
  expect(out).toMatch(/line 2, byte \d+: not JSON/);
  expect(err).toContain('error: --strict: nothing kept of strict.jsonl');
  expect(await stored()).toEqual(['kept']);
  expect(await rows('SELECT count(*)::INTEGER AS n FROM rejects')).toEqual([{ n: 0 }]);
  expect(await rows('SELECT count(*)::INTEGER AS n FROM sources')).toEqual([{ n: 1 }]);
  // So is another episode of a known name; a copy is none.
  write('again.jsonl', line('new') + line('kept', { reward: 1 }));
  expect(ingest('again.jsonl', '--strict').code).toBe(1);
  expect(await stored()).toEqual(['kept']);
});

test('an empty file says so and adds nothing', async () => {
  write('empty.jsonl', '');
  write('blank.jsonl', ' \n\n');
  const { code, out, err } = cli.run(['ingest', 'empty.jsonl', 'blank.jsonl', '--store', store]);
  expect(code).toBe(1);
  expect(out).toContain('empty.jsonl: empty: nothing added');
  expect(err).toBe('error: empty.jsonl: holds no record\nerror: blank.jsonl: holds no record\n');
  expect(await stored()).toEqual(['kept']);
});

test.each([
  ['a missing file', 'none.jsonl', /^error: none\.jsonl: no such file\n$/],
  ['a glob that matches nothing', 'none-*.jsonl', /^error: none-\*\.jsonl: matches no file/],
])('%s is a usage error that makes no store', (_, input, message) => {
  const fresh = join(cli.folder, `fresh-${count++}.duckdb`);
  write('fine.jsonl', line('fine'));
  const { code, err } = cli.run(['ingest', 'fine.jsonl', input, '--store', fresh]);
  expect([code, existsSync(fresh)]).toEqual([2, false]);
  expect(err).toMatch(message);
});

test('a directory by itself is a usage error; among files it is named, and they are read', async () => {
  const fresh = join(cli.folder, `fresh-${count++}.duckdb`);
  const message = /^error: \.: is a directory, expected a file/m;
  const alone = cli.run(['ingest', '.', '--store', fresh]);
  expect([alone.code, existsSync(fresh)]).toEqual([2, false]);
  expect(alone.err).toMatch(message);
  write('fine.jsonl', line('fine'));
  const among = cli.run(['ingest', 'fine.jsonl', '.', '--store', store]);
  expect(among.code).toBe(1);
  expect(among.err).toMatch(message);
  expect(await stored()).toEqual(['kept', 'fine']);
});

test('no file, an unknown format', () => {
  expect(cli.run(['ingest', '--store', store])).toMatchObject({
    code: 2,
    err: expect.stringContaining('no file given'),
  });
  const { code, err } = ingest('kept.jsonl', '--format', 'jsonl');
  expect(code).toBe(2);
  expect(err).toContain('--format: unknown format, got "jsonl", expected auto, canonical');
});

test('a format nobody knows is an error that names the file', async () => {
  write('notes.txt', 'Dear diary,\n');
  write('other.jsonl', '{"a":1}\n{"a":2}\n');
  for (const name of ['notes.txt', 'other.jsonl']) {
    const { code, err } = ingest(name);
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^error: ${name}: its format is not recognised`));
    noTrace(err);
  }
  expect(await stored()).toEqual(['kept']);
});

test.each([
  [
    'gzip',
    'cut.jsonl.gz',
    gzipSync(line('one') + line('two').repeat(500)).subarray(0, 60),
    /is not valid gzip \(it ends too early\)/,
  ],
  [
    'gzip',
    'odd.jsonl.gz',
    Buffer.concat([gzipSync(line('one')).subarray(0, 12), Buffer.alloc(40, 7)]),
    /is not valid gzip/,
  ],
  ['Zstandard', 'cut.jsonl.zst', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4, 88, 1]), /is not valid Zstandard/],
])('a damaged %s file fails with its name, and nothing of it is kept', async (_, name, bytes, message) => {
  write(name, bytes);
  const { code, err } = ingest(name, '--format', 'canonical');
  expect(code).toBe(1);
  expect(err).toMatch(message);
  expect(err).toContain(`error: ${name}: `);
  noTrace(err);
  expect(await stored()).toEqual(['kept']);
});

test('a named pipe is refused by name rather than waited for', () => {
  const pipe = join(cli.folder, 'pipe');
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
  const { code, err } = cli.run(['ingest', 'pipe', '--store', store]);
  expect(code).toBe(2);
  expect(err).toMatch(/pipe: is no regular file\. Pipe it in instead/);
});

test('a damaged Parquet file, and one that holds no episodes', async () => {
  write('bad.parquet', `PAR1${'x'.repeat(100)}`);
  const { code, err } = ingest('bad.parquet');
  expect([code, err]).toEqual([1, expect.stringContaining('bad.parquet')]);
  noTrace(err);
  const open = await openStore(store, { mode: 'read' });
  await open.connection.run(`COPY turns TO '${join(cli.folder, 'turns.parquet')}' (FORMAT parquet)`);
  open.close();
  const table = ingest('turns.parquet');
  expect(table.code).toBe(1);
  expect(table.err).toContain(
    'turns.parquet: is table "turns" as "turnwise export" writes it, not a log. Use "turnwise import".',
  );
  expect(await stored()).toEqual(['kept']);
});

test('a file that is not a store is left as it was', () => {
  write('text.duckdb', 'not a store\n'.repeat(10));
  const { code, err } = cli.run(['ingest', 'kept.jsonl', '--store', 'text.duckdb']);
  expect(code).toBe(1);
  expect(err).toContain('text.duckdb');
  noTrace(err);
});

test('a store in use by another process is an error that says so', async () => {
  const open = await openStore(store, { mode: 'write' });
  try {
    write('more.jsonl', line('more'));
    const { code, err } = ingest('more.jsonl');
    expect(code).toBe(1);
    expect(err).toMatch(/\.duckdb: .*(in use|another process|lock)/i);
    noTrace(err);
  } finally {
    open.close();
  }
  expect(await stored()).toEqual(['kept']);
});

/** A file system of 6 MB, where the machine lets us make one. */
function smallDisk(): { readonly path: string; readonly why: string } {
  const path = join(process.env.TMPDIR ?? '/tmp', `turnwise-full-${process.pid}`);
  if (process.getuid?.() !== 0) return { path: '', why: 'only root may mount a small file system' };
  mkdirSync(path, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', path]);
  return mounted.status === 0
    ? { path, why: '' }
    : { path: '', why: 'no right to mount a small file system' };
}

const disk = smallDisk();
afterAll(() => {
  if (disk.path !== '') spawnSync('umount', [disk.path]);
});
test.skipIf(disk.path === '')(
  `a full disk fails with its name and loses nothing${disk.why && ` (skipped: ${disk.why})`}`,
  async () => {
    store = join(disk.path, 'full.duckdb');
    expect(ingest('kept.jsonl').code).toBe(0);
    let text = '';
    // Text that does not compress.
    for (let k = 0, x = 1; k < 4000; k++) {
      let action = '';
      for (let i = 0; i < 500; i++) action += (x = (x * 48271) % 2147483647).toString(36);
      text += line(`big-${k}`, { turns: [{ action }] });
    }
    write('big.jsonl', text);
    const { code, err } = ingest('big.jsonl');
    expect(code).toBe(1);
    expect(err).toMatch(/^error: .*full\.duckdb.*(space|disk)/i);
    noTrace(err);
    expect(await stored()).toEqual(['kept']);
  },
);
