/* Inputs and outputs that are no plain files, bombs, cut ends, headers that lie, and names that lead elsewhere. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { constants, createGzip, gzipSync } from 'node:zlib';
import { writeSafetensors } from '../../src/tensor/safetensors.ts';
import { crashed, type Lab, outcomeOf, skipped, type Tally, tally } from './lab.ts';
import { foreign, type Logs } from './logs.ts';
import type { Sums } from './sums.ts';

export async function inputs(lab: Lab, logs: Logs, sums: Sums): Promise<Tally[]> {
  return [
    await oddPlaces(lab, logs),
    await occupied(lab, logs),
    await bombs(lab),
    await cutEnds(lab, logs),
    ...(await lyingHeaders(lab, logs, sums)),
    await elsewhere(lab),
  ];
}

/** A pipe, a device, a socket, a folder, links: as a store, as an output, as an input. */
async function oddPlaces(lab: Lab, logs: Logs): Promise<Tally> {
  const what = 'pipe, device, socket, folder, links as store and output';
  const folder = lab.folder();
  logs.into(folder);
  const at = (name: string) => join(folder, name);
  if (spawnSync('mkfifo', [at('pipe')]).status !== 0) return skipped(what, 'no pipe can be made here');
  const kinds = ['pipe', 'null', 'socket', 'folder', 'nowhere', 'to-folder', 'to-pipe'];
  symlinkSync('/dev/null', at('null'));
  mkdirSync(at('folder'));
  symlinkSync(at('gone'), at('nowhere'));
  symlinkSync(at('folder'), at('to-folder'));
  symlinkSync(at('pipe'), at('to-pipe'));
  const server = createServer().listen(at('socket'));
  await new Promise((done) => server.once('listening', done));
  const commands = (odd: string): string[][] => [
    ['ingest', 'f0.jsonl', '--store', odd],
    ['ingest', odd, '--store', 'n.duckdb'],
    ['import', odd, '--store', 'n.duckdb'],
    ['describe', '--store', odd],
    ['credit', '--save', '--store', odd],
    ['export', '--store', logs.store, '--to', 'parquet', '--table', 'turns', '--force', '--out', odd],
    ['export', '--store', logs.store, '--to', 'arrow', '--table', 'turns', '--force', '--out', odd],
    ['report', '--store', logs.store, '--force', '--out', odd],
    ['simulate', 'tool-agent', '--force', '--out', odd],
  ];
  const all = kinds.flatMap((kind) => commands(kind));
  const seen = () => readdirSync(folder).map((name) => `${name} ${lstatSync(at(name)).mode}`);
  const before = seen();
  try {
    return await tally(
      what,
      all.length,
      async (k) => {
        const done = await lab.turnwise(all[k]!, { cwd: folder });
        if (done.hung || crashed(done)) return { outcome: outcomeOf(done, false), saw: `${all[k]}` };
        if (seen().join() !== before.join()) return { outcome: 'wrong', saw: `${all[k]}: ${seen()}` };
        return { outcome: outcomeOf(done, false) };
      },
      1,
    );
  } finally {
    server.close();
  }
}

/** Names that a program might write to are the user's, and a file that is read is an output of none. */
async function occupied(lab: Lab, logs: Logs): Promise<Tally> {
  const failing: string[][] = [
    ['ingest', 'rubbish', '--store', 'n.duckdb'],
    ['import', 'rubbish', '--store', 'n.duckdb'],
    ['export', '--store', 's.duckdb', '--to', 'parquet', '--table', 'turns', '--out', 's.duckdb', '--force'],
    ['export', '--store', 's.duckdb', '--to', 'arrow', '--table', 'turns', '--out', 'link', '--force'],
    ['export', '--store', 'x.part', '--to', 'parquet', '--table', 'turns', '--out', 'rubbish'],
    ['report', '--store', 's.duckdb', '--out', 's.duckdb', '--force'],
    ['simulate', 'tool-agent', '--out', 'rubbish'],
    ['demo', '--out', 'mine'],
  ];
  const fine: string[][] = [
    ['export', '--store', 'x.part', '--to', 'parquet', '--table', 'turns', '--out', 'x'],
    ['export', '--store', 'x.part', '--to', 'arrow', '--table', 'turns', '--out', 'x'],
    ['report', '--store', 'x.part', '--out', 'x'],
    ['simulate', 'tool-agent', '--out', 'x'],
  ];
  const all = [...failing, ...fine];
  return tally("names that are the user's", all.length, async (k) => {
    const folder = lab.folder();
    const stores = ['s.duckdb', 'x.part'];
    for (const name of stores) copyFileSync(logs.store, join(folder, name));
    const bytes = readFileSync(logs.store);
    symlinkSync(join(folder, 's.duckdb'), join(folder, 'link'));
    const untouched = foreign(folder, [
      'n.duckdb.tmp/mine',
      'n.duckdb.part',
      'rubbish',
      'rubbish.part',
      'x.arrow.part',
      'mine/report.html',
    ]);
    const done = await lab.turnwise(all[k]!, { cwd: folder });
    const kept = untouched() && stores.every((name) => readFileSync(join(folder, name)).equals(bytes));
    if (!kept) return { outcome: 'wrong', saw: `${all[k]} took a file` };
    return { outcome: outcomeOf(done, k >= failing.length), saw: done.code === 0 ? 'x is new' : 'refused' };
  });
}

/** A gigabyte of nothing in a megabyte or less. */
async function bombs(lab: Lab): Promise<Tally> {
  const folder = lab.folder();
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const parts: Buffer[] = [];
  gzip.on('data', (part) => parts.push(part));
  const spaces = Buffer.alloc(1 << 20, ' ');
  for (let mb = 0; mb < 1024; mb++)
    if (!gzip.write(spaces)) await new Promise((done) => gzip.once('drain', done));
  await new Promise((done) => gzip.end(done));
  writeFileSync(join(folder, 'spaces.jsonl.gz'), Buffer.concat(parts));
  const blocks = (byte: number, n: number) => {
    // Blocks of one byte repeated 128 KiB long, in a frame with a window of 1 MiB.
    const block = Buffer.from([
      (1 << 1) | ((131_072 << 3) & 0xff),
      (131_072 << 3) >> 8,
      (131_072 << 3) >> 16,
      byte,
    ]);
    const all = Array.from({ length: n }, () => block);
    const last = Buffer.from(block);
    last[0]! |= 1;
    return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]), ...all, last]);
  };
  writeFileSync(join(folder, 'letters.jsonl.zst'), blocks(0x61, 8192));
  writeFileSync(join(folder, 'opened.jsonl.zst'), blocks(0x5b, 8192));
  writeFileSync(join(folder, 'twice.jsonl.gz'), gzipSync(gzipSync(Buffer.alloc(1 << 24, '{'))));
  const names = readdirSync(folder);
  return tally(
    'gzip and Zstandard bombs',
    names.length,
    async (k) => {
      const limit = ['bash', '-c', 'ulimit -v 6000000; exec "$0" "$@"'];
      const done = await lab.turnwise(['ingest', names[k]!, '--store', `${k}.duckdb`], { cwd: folder });
      void limit;
      return {
        outcome: outcomeOf(done, false),
        saw: /error: .*/.exec(done.err)?.[0].slice(0, 100) ?? 'nothing said',
      };
    },
    1,
  );
}

/** A compressed log that ends too early is no log. */
async function cutEnds(lab: Lab, logs: Logs): Promise<Tally> {
  const folder = lab.folder();
  const log = readFileSync(join(lab.base, 'logs', logs.files[0]!));
  const files: [string, Buffer][] = [['gz', gzipSync(log)]];
  if (spawnSync('zstd', ['--version']).status === 0)
    files.push(['zst', execFileSync('zstd', ['-c', '-q'], { input: log, maxBuffer: 1 << 28 })]);
  const tries = lab.of(20);
  return tally('gzip and Zstandard cut at their ends', tries * files.length, async (k) => {
    const [end, bytes] = files[k % files.length]!;
    const name = `${k}.jsonl.${end}`;
    const kept =
      k < 2 * tries * 0.3 ? bytes.length - 1 - k : Math.ceil((bytes.length * (k + 1)) / (tries * 2 + 2));
    writeFileSync(join(folder, name), bytes.subarray(0, kept));
    const done = await lab.turnwise(['ingest', name, '--store', `${k}.duckdb`], { cwd: folder });
    return { outcome: outcomeOf(done, false), saw: `${end} ${done.code === 0 ? 'read' : 'refused'}` };
  });
}

/** Bytes of valid files changed at random, most of them where files describe themselves. */
async function lyingHeaders(lab: Lab, logs: Logs, sums: Sums): Promise<Tally[]> {
  const folder = lab.folder();
  const random = sequence(7);
  for (const to of ['parquet', 'arrow'])
    await lab.turnwise(['export', '--store', logs.store, '--to', to, '--out', join(folder, to)], {
      cwd: folder,
    });
  const tensors = join(folder, 'good.safetensors');
  await writeSafetensors(tensors, {
    a: { dtype: 'F32', shape: [3, 4], values: Float32Array.from({ length: 12 }, (_, i) => i) },
    b: { dtype: 'I64', shape: [2], values: BigInt64Array.of(1n, 2n) as never },
  }).catch(() => undefined);
  if (!readdirSync(folder).includes('good.safetensors'))
    await writeSafetensors(tensors, { a: { dtype: 'F32', shape: [3], values: Float32Array.of(1, 2, 3) } });
  const kinds = [
    ['Parquet, changed at random', 'parquet/turns.parquet', 'log', false],
    ['Parquet, end changed', 'parquet/episodes.parquet', 'log', true],
    ['Arrow, changed at random', 'arrow/turns.arrow', 'log', false],
    ['Arrow, end changed', 'arrow/episodes.arrow', 'log', true],
    ['safetensors, changed at random', 'good.safetensors', 'safetensors', false],
  ] as const;
  const rows: Tally[] = [];
  for (const [what, name, ask, atEnd] of kinds) {
    const good = readFileSync(join(folder, name));
    const kind = /parquet|arrow/.exec(name)?.[0] ?? 'safetensors';
    rows.push(
      await tally(what, lab.of(200), async (k) => {
        const bytes = changed(good, random, atEnd);
        const at = join(folder, `${what.replaceAll(/\W+/g, '-')}-${k}`);
        let path = `${at}.${kind}`;
        if (ask === 'log') {
          // A folder of tables in which one lies.
          mkdirSync(at);
          for (const file of readdirSync(join(folder, kind)))
            copyFileSync(join(folder, kind, file), join(at, file));
          path = at;
          writeFileSync(join(at, name.split('/')[1]!), bytes);
        } else writeFileSync(path, bytes);
        const found = await sums.of(ask === 'log' ? 'tables' : 'safetensors', path);
        if (found.hung) return { outcome: 'hung', saw: path };
        if (found.crashed) return { outcome: 'crashed', saw: found.crashed.slice(0, 300) };
        return found.refused ? { outcome: 'refused' } : { outcome: 'held' };
      }),
    );
  }
  return rows;
}

function changed(good: Buffer, random: () => number, atEnd: boolean): Buffer {
  const bytes = Buffer.from(good);
  const head = Math.min(600, bytes.length);
  for (let n = 1 + Math.floor(4 * random()); n > 0; n--) {
    const near = random() < 0.7;
    const span = near ? head : bytes.length;
    const from = atEnd && near ? bytes.length - span : 0;
    bytes[from + Math.floor(span * random())] = [0, 0xff, 0x7f, 0x80, Math.floor(256 * random())][
      Math.floor(5 * random())
    ]!;
  }
  return random() < 0.1 ? bytes.subarray(0, Math.floor(bytes.length * random())) : bytes;
}

/** A fixed sequence in [0, 1). */
export function sequence(seed: number): () => number {
  let x = seed;
  return () => (x = (x * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Continuations that lead out of the folder of their document. */
async function elsewhere(lab: Lab): Promise<Tally> {
  const fixture = readFileSync(
    new URL('../../test/fixtures/ingest/atif/trajectory.json', import.meta.url),
    'utf8',
  );
  const refs = [
    '../secret.json',
    '/etc/passwd',
    'a/../../secret.json',
    './../secret.json',
    '..\\secret.json',
    'pipe',
  ];
  return tally('continuations that lead elsewhere', refs.length, async (k) => {
    const outer = lab.folder();
    const folder = join(outer, 'in');
    mkdirSync(folder);
    if (refs[k] === 'pipe') spawnSync('mkfifo', [join(folder, 'pipe')]);
    writeFileSync(
      join(outer, 'secret.json'),
      fixture.replaceAll(/"session_id": *"[^"]*"/g, '"session_id": "SECRET"'),
    );
    const document = { ...(JSON.parse(fixture) as object), continued_trajectory_ref: refs[k] };
    writeFileSync(join(folder, 'trajectory.json'), JSON.stringify(document));
    const done = await lab.turnwise(['ingest', 'trajectory.json', '--store', 'n.duckdb'], { cwd: folder });
    return {
      outcome: outcomeOf(done, false),
      saw: /refers to|cannot be read/.exec(done.err + done.out)?.[0] ?? done.err,
    };
  });
}
