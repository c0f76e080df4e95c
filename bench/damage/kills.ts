/* kill -9 at many moments: what was there before or what comes after, nothing between; the next command works. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashed, fresh, type Lab, type Outcome, type RunOptions, type Tally, tally } from './lab.ts';
import { foreign, type Logs } from './logs.ts';
import type { Sums } from './sums.ts';

interface Scene {
  readonly folder: string;
  readonly args: readonly string[];
  /** What is there now: a name for each state that may be; undefined for one that may not. */
  state(): Promise<string | undefined>;
  /** The command that follows, until all is done. */
  readonly again: readonly string[];
  /** The state after it. */
  readonly whole: string;
  /** Whether the user's files are as they were. */
  untouched(): boolean;
  /** The first sign of work; default: something comes into the folder. */
  readonly sign?: () => boolean;
}

type Setting = (folder: string, k: number) => Scene | Promise<Scene>;

export async function kills(lab: Lab, logs: Logs, sums: Sums): Promise<Tally[]> {
  const settings: Record<string, Setting> = {
    ingest: ingesting(logs, sums),
    export: await exporting(lab, logs, sums),
    import: await importing(lab, logs, sums),
    'credit --save': await saving(lab, logs, sums),
    simulate: await simulating(lab),
  };
  const rows: Tally[] = [];
  for (const [name, setting] of Object.entries(settings)) rows.push(await killed(lab, name, setting));
  return rows;
}

async function killed(lab: Lab, name: string, setting: Setting): Promise<Tally> {
  const tries = lab.of(100);
  const early = Math.round(tries / 5);
  const once = await prepared(lab, setting, 0);
  const { ms } = await lab.turnwise(once.args, { cwd: once.folder });
  return tally(`kill -9: ${name}`, tries, async (k) => {
    const scene = await prepared(lab, setting, k);
    // A fifth of the moments lies in the first 50 ms after something is seen to be written; the rest is spread over the run
    // from there on.
    const afterMs = k < early ? (50 * k) / early : (ms * (k - early + 0.5)) / (tries - early);
    const kill: RunOptions['kill'] = { signal: 'SIGKILL', afterMs, sign: scene.sign ?? fresh(scene.folder) };
    const first = await lab.turnwise(scene.args, { cwd: scene.folder, kill });
    if (first.signal !== 'SIGKILL' && crashed(first)) return { outcome: 'crashed', saw: first.err };
    const between = await scene.state();
    if (between === undefined) return { outcome: 'wrong', saw: 'neither before nor after' };
    if (between !== scene.whole) {
      const next = await lab.turnwise(scene.again, { cwd: scene.folder });
      if (next.code !== 0) return { outcome: 'wrong', saw: `the next command fails: ${next.err}` };
      const then = await scene.state();
      if (then !== scene.whole) return { outcome: 'wrong', saw: `the next command leaves ${then}` };
    }
    if (!scene.untouched()) return { outcome: 'wrong', saw: "a file of the user's is gone" };
    return { outcome: 'held', saw: between } satisfies { outcome: Outcome; saw: string };
  });
}

async function prepared(lab: Lab, setting: Setting, k: number): Promise<Scene> {
  return setting(lab.folder(), k);
}

const ingesting =
  (logs: Logs, sums: Sums): Setting =>
  (folder) => {
    logs.into(folder);
    const store = join(folder, 'n.duckdb');
    const args = ['ingest', ...logs.files, '--store', store];
    return {
      folder,
      args,
      again: args,
      whole: '3 files',
      untouched: foreign(folder, ['n.duckdb.tmp/mine', 'n.duckdb.part', 'n.duckdb.wal.bak']),
      async state() {
        if (!existsSync(store)) return 'no store';
        const { sums: found } = await sums.of('store', store);
        if (found === undefined) return undefined;
        const n = logs.prefixes.indexOf(found);
        if (n > 0) return `${n} file${n > 1 ? 's' : ''}`;
        return /^\w+ 0 0(; \w+ 0 0)*$/.test(found) ? 'an empty store' : undefined;
      },
    };
  };

async function exporting(lab: Lab, logs: Logs, sums: Sums): Promise<Setting> {
  const older = join(lab.folder(), 'older');
  const one = join(lab.base, 'logs', 'p1.duckdb');
  const made = await lab.turnwise(['export', '--store', one, '--to', 'parquet', '--out', older], {
    cwd: lab.base,
  });
  if (made.code !== 0) throw new Error(made.err);
  const after = (await sums.of('store', logs.store)).sums;
  const before = (await sums.of('store', one)).sums;
  return (folder, k) => {
    const out = join(folder, 'out');
    const over = k % 2 === 1;
    if (over) {
      mkdirSync(out);
      for (const name of TABLE_FILES) copyFileSync(join(older, name), join(out, name));
    }
    const args = ['export', '--store', logs.store, '--to', 'parquet', '--out', out];
    return {
      folder,
      args: over ? [...args, '--force'] : args,
      again: [...args, '--force'],
      whole: 'the new export',
      untouched: foreign(folder, over ? ['out.part', 'out/export.part/mine'] : ['out.part']),
      sign: fresh(over ? out : folder),
      async state() {
        if (!existsSync(out)) return 'no export';
        const found = await sums.of('tables', out);
        if (found.sums === after) return 'the new export';
        if (over && found.sums === before) return 'the old export';
        return found.refused?.includes('export that was not finished')
          ? 'half moved, and refused so'
          : undefined;
      },
    };
  };
}

const TABLE_FILES = [
  'sources',
  'episodes',
  'turns',
  'segments',
  'scores',
  'turn_values',
  'critics',
  'rejects',
  'censored',
].map((name) => `${name}.parquet`);

async function importing(lab: Lab, logs: Logs, sums: Sums): Promise<Setting> {
  const folder = join(lab.folder(), 'tables');
  const made = await lab.turnwise(['export', '--store', logs.store, '--to', 'arrow', '--out', folder], {
    cwd: lab.base,
  });
  if (made.code !== 0) throw new Error(made.err);
  const whole = (await sums.of('store', logs.store)).sums;
  return (at) => {
    const store = join(at, 'copy.duckdb');
    const args = ['import', folder, '--store', store];
    return {
      folder: at,
      args,
      again: args,
      whole: 'all tables',
      untouched: foreign(at, ['copy.duckdb.tmp/mine', 'copy.duckdb.part']),
      async state() {
        if (!existsSync(store)) return 'no store';
        const { sums: found } = await sums.of('store', store);
        if (found === whole) return 'all tables';
        return found !== undefined && /^\w+ 0 0(; \w+ 0 0)*$/.test(found) ? 'an empty store' : undefined;
      },
    };
  };
}

async function saving(lab: Lab, logs: Logs, sums: Sums): Promise<Setting> {
  const args = (store: string) => ['credit', '--store', store, '--save', '--placebos', '1'];
  const done = join(lab.folder(), 's.duckdb');
  copyFileSync(logs.store, done);
  const made = await lab.turnwise(args(done), { cwd: lab.base });
  if (made.code !== 0) throw new Error(made.err);
  const before = (await sums.of('store', logs.store)).sums;
  const after = (await sums.of('store', done)).sums;
  return (folder) => {
    const store = join(folder, 's.duckdb');
    copyFileSync(logs.store, store);
    return {
      folder,
      args: args(store),
      again: args(store),
      whole: 'saved',
      untouched: foreign(folder, ['s.duckdb.tmp/mine', 's.duckdb.part']),
      async state() {
        const { sums: found } = await sums.of('store', store);
        return found === before ? 'not saved' : found === after ? 'saved' : undefined;
      },
    };
  };
}

async function simulating(lab: Lab): Promise<Setting> {
  const args = (out: string) => [
    'simulate',
    'tool-agent',
    '--episodes',
    '20000',
    '--tasks',
    '50',
    '--out',
    out,
  ];
  const whole = join(lab.folder(), 'whole.jsonl');
  const made = await lab.turnwise(args(whole), { cwd: lab.base });
  if (made.code !== 0) throw new Error(made.err);
  const bytes = readFileSync(whole);
  return (folder) => {
    const out = join(folder, 'sim.jsonl');
    return {
      folder,
      args: args(out),
      again: args(out),
      whole: 'the file',
      untouched: foreign(folder, ['sim.jsonl.part', 'sim.jsonl.tmp/mine']),
      async state() {
        if (!existsSync(out)) return 'no file';
        return readFileSync(out).equals(bytes) ? 'the file' : undefined;
      },
    };
  };
}
