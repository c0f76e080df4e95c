/* More than one process, signals, and places that cannot be written to. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashed, fresh, type Lab, outcomeOf, skipped, type Tally, tally } from './lab.ts';
import type { Logs } from './logs.ts';
import type { Sums } from './sums.ts';

export async function writers(lab: Lab, logs: Logs, sums: Sums): Promise<Tally[]> {
  return [
    await together(lab, 2),
    await together(lab, 4),
    await besideWriter(lab, logs, sums),
    ...(await interrupted(lab, logs, sums)),
    await deaf(lab, logs),
    await fullDisk(lab, logs, sums),
    await readOnlyFolder(lab, logs),
  ];
}

/** First ingests into one new store, at once: what exit 0 reported is stored, and the others say why not. */
function together(lab: Lab, writers: number): Promise<Tally> {
  return tally(
    `${writers} first ingests at once`,
    lab.of(100),
    async (k) => {
      const folder = lab.folder();
      const runs = Array.from({ length: writers }, async (_, w) => {
        // Every other round one of them reads nothing, and would take a store that it made away again.
        const empty = w === 0 && k % 2 === 1;
        const lines = [0, 1, 2].map((e) =>
          JSON.stringify({ episode_id: `${w}-${e}`, ending: 'terminated', turns: [] }),
        );
        writeFileSync(join(folder, `l${w}.jsonl`), empty ? 'no record\n' : `${lines.join('\n')}\n`);
        return lab.turnwise(['ingest', `l${w}.jsonl`, '--store', 'n.duckdb'], { cwd: folder });
      });
      const done = await Promise.all(runs);
      const bad = done.find(crashed);
      if (bad) return { outcome: 'crashed', saw: bad.err };
      const said = 3 * done.filter((d) => d.code === 0).length;
      const now = await lab.turnwise(['describe', '--store', 'n.duckdb', '--json'], { cwd: folder });
      const there = now.code === 0 ? (JSON.parse(now.out) as { episodes: number }).episodes : 0;
      const left = readdirSync(folder).filter((name) => /part-|spill/.test(name));
      if (there !== said || left.length > 0)
        return { outcome: 'wrong', saw: `${said} said, ${there} there ${left}` };
      return { outcome: 'held', saw: `${done.filter((d) => d.code === 0).length} stored` };
    },
    1,
  );
}

/** A reader while another process writes: refused, or whole files. */
function besideWriter(lab: Lab, logs: Logs, sums: Sums): Promise<Tally> {
  return tally(
    'a reader while one writes',
    lab.of(20),
    async (k) => {
      const folder = lab.folder();
      logs.into(folder);
      const store = join(folder, 'n.duckdb');
      const writing = lab.turnwise(['ingest', ...logs.files, '--store', store], { cwd: folder });
      await new Promise((done) => setTimeout(done, 200 + 40 * k));
      const read = await lab.turnwise(['describe', '--store', store], { cwd: folder });
      const wrote = await writing;
      const whole = (await sums.of('store', store)).sums === logs.prefixes.at(-1);
      if (!whole || wrote.code !== 0) return { outcome: 'wrong', saw: wrote.err };
      return {
        outcome: outcomeOf(read, true),
        saw: read.code === 0 ? 'read' : /in use|no such/.exec(read.err)?.[0],
      };
    },
    1,
  );
}

async function interrupted(lab: Lab, logs: Logs, sums: Sums): Promise<Tally[]> {
  const rows: Tally[] = [];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const tries = lab.of(60);
    rows.push(
      await tally(signal, tries, async (k) => {
        const folder = lab.folder();
        logs.into(folder);
        const args = [
          ['ingest', ...logs.files, '--store', 'n.duckdb'],
          ['export', '--store', logs.store, '--to', 'parquet', '--out', 'out'],
          ['simulate', 'tool-agent', '--episodes', '20000', '--out', 'sim.jsonl'],
        ][k % 3]!;
        const before = readdirSync(folder);
        const kill = { signal, afterMs: 3 * k, sign: fresh(folder) };
        const done = await lab.turnwise(args, { cwd: folder, kill });
        if (done.signal !== signal && (done.signal !== null || crashed(done)))
          return { outcome: 'crashed', saw: done.err };
        const after = readdirSync(folder).filter((name) => !before.includes(name));
        if (done.signal === null) return { outcome: 'held', saw: 'it was done by then' };
        if (after.length === 0) return { outcome: 'held', saw: 'nothing is left' };
        const kept = after[0] === 'n.duckdb' && (await sums.of('store', join(folder, 'n.duckdb'))).sums;
        if (after.length === 1 && kept && logs.prefixes.includes(kept))
          return { outcome: 'held', saw: 'whole files' };
        if (after.length === 1 && after[0] === 'out' && (await sums.of('tables', join(folder, 'out'))).sums)
          return { outcome: 'held', saw: 'it was done by then' };
        return { outcome: 'wrong', saw: `left ${after}` };
      }),
    );
  }
  return rows;
}

function deaf(lab: Lab, logs: Logs): Promise<Tally> {
  const commands = [
    ['describe', '--store', logs.store],
    ['check', '--store', logs.store, '--json'],
    ['credit', '--store', logs.store, '--json'],
    ['simulate', 'tool-agent', '--episodes', '50000'],
    ['--help'],
    ['schema', 'episode'],
  ];
  return tally('nobody reads the output (EPIPE)', commands.length, async (k) => {
    const done = await lab.turnwise(commands[k]!, { cwd: lab.base, deaf: true });
    return { outcome: outcomeOf(done, true) };
  });
}

const WRITING = (logs: Logs, store: string): string[][] => [
  ['ingest', ...logs.files, '--store', 'n.duckdb'],
  ['export', '--store', store, '--to', 'parquet', '--out', 'out'],
  ['export', '--store', store, '--to', 'arrow', '--out', 'out2'],
  ['export', '--store', store, '--to', 'parquet', '--table', 'turns', '--shards', '3', '--out', 'out3'],
  ['simulate', 'tool-agent', '--episodes', '200000', '--out', 'sim.jsonl'],
  ['report', '--store', store, '--out', 'r.html'],
  ['credit', '--store', store, '--save', '--placebos', '1'],
  ['demo', '--out', 'demo'],
];

async function fullDisk(lab: Lab, logs: Logs, sums: Sums): Promise<Tally> {
  const what = 'full disk';
  const disk = join(lab.base, 'disk');
  mkdirSync(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
  if (mounted.status !== 0) return skipped(what, 'no small disk can be mounted here');
  try {
    const sizes = [40, 400, 1200, 2500, 3500];
    const count = WRITING(logs, '').length;
    return await tally(
      what,
      sizes.length * count,
      async (k) => {
        const folder = join(disk, `try-${k}`);
        mkdirSync(folder);
        logs.into(folder);
        const store = join(folder, 's.duckdb');
        try {
          copyFileSync(join(lab.base, 'logs', 'p1.duckdb'), store);
          const { bavail, bsize } = (await import('node:fs')).statfsSync(disk);
          const free = Math.max(0, bavail * bsize - 1024 * sizes[k % sizes.length]!);
          writeFileSync(join(folder, 'filler'), Buffer.alloc(free));
          const before = readdirSync(folder);
          const done = await lab.turnwise(WRITING(logs, store)[Math.floor(k / sizes.length)]!, {
            cwd: folder,
          });
          if (crashed(done)) return { outcome: 'crashed', saw: done.err };
          const after = readdirSync(folder).filter((name) => !before.includes(name));
          if (done.code !== 0 && after.some((name) => !/^(n\.duckdb|[ns]\.duckdb\.wal)$/.test(name)))
            return { outcome: 'wrong', saw: `left ${after}` };
          const kept = await sums.of('store', store);
          if (!kept.sums || (k < 35 && !kept.sums.startsWith(logs.prefixes[1]!.slice(0, 30))))
            return { outcome: 'wrong', saw: 'the store is damaged' };
          if (existsSync(join(folder, 'n.duckdb'))) {
            const made = (await sums.of('store', join(folder, 'n.duckdb'))).sums;
            if (!made || !logs.prefixes.includes(made))
              return { outcome: 'wrong', saw: 'half a file is stored' };
          }
          return {
            outcome: done.code === 0 ? 'held' : 'refused',
            saw: /disk is full|ENOSPC/.exec(done.err)?.[0],
          };
        } finally {
          execFileSync('rm', ['-rf', folder]);
        }
      },
      1,
    );
  } finally {
    spawnSync('umount', [disk]);
  }
}

async function readOnlyFolder(lab: Lab, logs: Logs): Promise<Tally> {
  const what = 'read-only folder';
  const isRoot = process.getuid?.() === 0;
  const before = isRoot ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : [];
  const folder = lab.folder();
  logs.into(folder);
  const store = join(folder, 's.duckdb');
  copyFileSync(join(lab.base, 'logs', 'p1.duckdb'), store);
  chmodSync(lab.base, 0o755);
  chmodSync(folder, 0o555);
  const [node, ...probe] = [...before, process.execPath, '--version'];
  if (spawnSync(node!, probe).status !== 0) return skipped(what, 'no other user can run node here');
  const reading = [
    ['describe', '--store', store],
    ['check', '--store', store],
  ];
  const commands = [...WRITING(logs, store), ...reading];
  return tally(what, commands.length, async (k) => {
    const done = await lab.turnwise(commands[k]!, { cwd: folder, before });
    const isReading = k >= commands.length - reading.length;
    if (readdirSync(folder).length !== logs.files.length + 1)
      return { outcome: 'wrong', saw: 'something is written' };
    return {
      outcome: isReading && done.code !== 0 ? 'wrong' : outcomeOf(done, isReading),
      saw: done.err.slice(-90),
    };
  });
}
