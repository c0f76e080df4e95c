import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { random, uniform } from '../src/math/random.ts';
import { appendBatch } from '../src/store/append.ts';
import type { Batch } from '../src/store/batch.ts';
import { openStore } from '../src/store/store.ts';
import { built } from './built.ts';
import { machine, type Study } from './result.ts';

const MEAN = 20;
const LONGEST = 200;
const TASKS = 20_000;
/** Turns written at a time. */
const BATCH = 500_000;

/**
 * `npm run bench steps -- --turns 100000000 [--targets N] [--folder DIR]`: a store of so many turns, written
 * directly and deleted afterwards, audited to the end in a process of its own whose memory is measured.
 */
export async function bench(flags: readonly string[]): Promise<Study> {
  const turns = Number(flag(flags, '--turns') ?? 100_000_000);
  const targets = Number(flag(flags, '--targets') ?? 1);
  const threads = flag(flags, '--threads') ?? 'auto';
  const folder = mkdtempSync(join(flag(flags, '--folder') ?? tmpdir(), 'turnwise-bench-steps-'));
  try {
    const dist = built(folder);
    const path = join(folder, 'steps.duckdb');
    const started = performance.now();
    const made = await generate(path, turns, targets);
    const generated = (performance.now() - started) / 1000;
    const megabytes = statSync(path).size / 1e6;
    const child = join(import.meta.dirname, 'steps-child.ts');
    const names = Array.from({ length: targets }, (_, k) => `target-${k}`);
    const out = execFileSync(
      process.execPath,
      ['--import', 'tsx', '--max-old-space-size=1024', child, dist, path, threads, ...names],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const audited = JSON.parse(out) as { seconds: number; peakMB: number; verdicts: string[]; ess: number };
    const data = {
      machine: machine(),
      ...made,
      targets,
      threads,
      storeMB: Math.round(megabytes),
      generateSeconds: round(generated),
      ...audited,
      turnsPerSecond: Math.round(made.turns / audited.seconds),
      loadAverage: loadavg().map(round),
    };
    return {
      data,
      text: `${Object.entries(data)
        .map(([k, v]) => `${k.padEnd(16)} ${v}`)
        .join('\n')}\n`,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Episodes of geometric length, one behaviour, targets whose ratios drift a little; scores in turn order. */
async function generate(path: string, wanted: number, targets: number) {
  const rng = random(1, 'steps');
  const store = await openStore(path, { mode: 'create' });
  let episode = 0;
  let turns = 0;
  try {
    while (turns < wanted) {
      const lengths: number[] = [];
      let n = 0;
      while (n < BATCH && turns + n < wanted) {
        const length = Math.min(LONGEST, 1 + Math.floor(Math.log1p(-uniform(rng)) / Math.log1p(-1 / MEAN)));
        lengths.push(length);
        n += length;
      }
      const batches = batchOf(lengths, n, episode, rng);
      for (const batch of batches) await appendBatch(store, batch);
      episode += lengths.length;
      turns += n;
    }
    for (let p = 0; p < targets; p++) await store.connection.run(scoresSql(p));
  } finally {
    store.close();
  }
  return { episodes: episode, turns, tasks: Math.min(TASKS, episode) };
}

/** Scores of a target that moves each probability by up to 0.05, by a hash; written by the engine, in turn order. */
function scoresSql(target: number): string {
  const u = `(hash(episode * 256 + turn, ${target}) % 1000003) / 1000003.0`;
  return `INSERT INTO scores SELECT 'target-${target}', 0, '"none"', episode, turn, NULL, NULL,
    ln(exp(behaviour_log_propensity) + 0.1 * (${u} - 0.5)), NULL, NULL FROM turns`;
}

function batchOf(
  lengths: readonly number[],
  n: number,
  first: number,
  rng: ReturnType<typeof random>,
): Batch[] {
  const E = lengths.length;
  const episode = new Float64Array(n);
  const turn = new Int32Array(n);
  const behaviour = new Float64Array(n);
  let k = 0;
  lengths.forEach((length, i) => {
    for (let t = 0; t < length; t++, k++) {
      const b = 0.2 + 0.6 * uniform(rng);
      const taken = uniform(rng) < b;
      episode[k] = first + i;
      turn[k] = t;
      behaviour[k] = Math.log(taken ? b : 1 - b);
    }
  });
  const i64 = (values: Float64Array) => ({ kind: 'i64', values }) as const;
  const i32 = (values: Int32Array) => ({ kind: 'i32', values }) as const;
  const f64 = (values: Float64Array) => ({ kind: 'f64', values }) as const;
  const text = (count: number, of: (i: number) => string) =>
    ({ kind: 'text', values: Array.from({ length: count }, (_, i) => of(i)) }) as const;
  const episodes: Batch = {
    table: 'episodes',
    rows: E,
    columns: {
      episode: i64(Float64Array.from(lengths, (_, i) => first + i)),
      episode_id: text(E, (i) => `e${first + i}`),
      source: i32(new Int32Array(E)),
      task_id: text(E, (i) => `task-${(first + i) % TASKS}`),
      ending: text(E, () => 'terminated'),
      reward: f64(Float64Array.from(lengths, () => (uniform(rng) < 0.4 ? 1 : 0))),
      n_turns: i32(Int32Array.from(lengths)),
    },
  };
  const turns: Batch = {
    table: 'turns',
    rows: n,
    columns: { episode: i64(episode), turn: i32(turn), behaviour_log_propensity: f64(behaviour) },
  };
  return [episodes, turns];
}

function flag(flags: readonly string[], name: string): string | undefined {
  const at = flags.indexOf(name);
  return at < 0 ? undefined : flags[at + 1];
}

const round = (x: number): number => Math.round(x * 100) / 100;
