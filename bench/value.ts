import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { studentQuantile } from '../src/math/distributions.ts';
import { built } from './built.ts';
import { type BenchResult, type BenchRow, machine, median } from './result.ts';
import { type ValueArrays, valueArrays } from './value-arrays.ts';

/** Episodes of the largest input; TURNWISE_BENCH_EPISODES overrides. */
const EPISODES = Number(process.env.TURNWISE_BENCH_EPISODES ?? 500_000);
const RUNS = Number(process.env.TURNWISE_BENCH_RUNS ?? 5);
const TOLERANCE = 1e-9;
const cache = resolve(import.meta.dirname, '../.cache');

interface Run {
  readonly seconds: number;
  /** User and system time: what a busy machine does not stretch much. */
  readonly cpuSeconds: number;
  readonly peakMB: number;
  readonly estimates: Readonly<Record<string, readonly (number | null)[]>>;
  readonly ess?: number;
  readonly kHat?: number | null;
  readonly version?: string;
}

/**
 * All estimators, ESS, k̂ and 95 % intervals of ragged episodes in memory, beside vectorised NumPy, loops in Python
 * Open Bandit Pipeline (the first turns alone) and SCOPE-RL (episodes of equal length), each in its own process, runs
 * taking turns. Peers are looked for in .cache (`python -m venv .cache/numpy` with numpy; `.cache/obp` with obp;
 * `.cache/scope` with scope-rl); one that is not there is left out.
 */
export async function bench(): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-bench-value-'));
  try {
    const dist = built(folder);
    const rows: BenchRow[] = [];
    const seconds: number[] = [];
    let input = '';
    for (const share of [8, 4, 2, 1]) {
      const arrays = valueArrays(Math.floor(EPISODES / share), 1, 'ragged');
      const critical = studentQuantile(0.975, arrays.tasks - 1);
      write(folder, arrays);
      const turns = arrays.rewards.length;
      const ours: Run[] = [];
      const numpy: Run[] = [];
      for (let k = 0; k < RUNS; k++) {
        ours.push(turnwise('all', folder, dist));
        const peer = python('numpy', 'numpy', folder, critical);
        if (peer !== null) numpy.push(peer);
        if (peer !== null) compare(ours[k]!, peer, 'numpy');
      }
      seconds.push(median(ours.map((r) => r.seconds)));
      const what = `${(turns / 1e6).toFixed(1)} M turns, all estimators`;
      if (numpy.length > 0) rows.push(row(what, ours, numpy, 'numpy'));
      report(`${what}: ${seconds.at(-1)!.toFixed(3)} s; ${numpy[0]?.version ?? 'no NumPy'}`);
      if (share > 1) continue;
      input = `${EPISODES} episodes, ${turns} turns, ragged (mean 20, at most 200), ${arrays.tasks} tasks`;
      const loops = repeat(Math.min(RUNS, 3), () => python('python', 'numpy', folder, critical));
      for (const run of loops) compare(ours[0]!, run, 'python');
      if (loops.length > 0) rows.push(row('the same; peer: IS and WIS only', ours, loops, 'python'));
      const obp = repeat(1, () => python('obp', 'obp', folder, critical));
      if (obp.length > 0) {
        const first = repeat(RUNS, () => turnwise('first-turn', folder, dist));
        for (const run of obp) compare(first[0]!, run, 'obp');
        rows.push(row('first turns: IS, WIS; peer: bootstrap of 100', first, obp, 'obp'));
      } else report('obp: not in .cache/obp');
      write(folder, valueArrays(EPISODES, 1, 'equal'));
      const scope = repeat(1, () => python('scope', 'scope', folder, critical));
      if (scope.length > 0) {
        const equal = repeat(RUNS, () => turnwise('all', folder, dist));
        for (const run of scope) compare(equal[0]!, run, 'scope');
        const what = '20 turns each, all estimators; peer: IS, PDIS, WIS, WPDIS, bootstrap of 100';
        rows.push(row(what, equal, scope, 'scope-rl'));
      } else report('scope-rl: not in .cache/scope');
    }
    report(
      `load average ${loadavg()
        .map((x) => x.toFixed(1))
        .join(' ')}`,
    );
    const exponent = Math.log(seconds[3]! / seconds[0]!) / Math.log(8);
    return { name: 'value', machine: machine(), input, rows, exponent };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function write(folder: string, arrays: ValueArrays): void {
  const { offsets, behaviour, target, rewards, q, v, task } = arrays;
  for (const [name, x] of Object.entries({ offsets, behaviour, target, rewards, q, v, task }))
    writeFileSync(join(folder, `${name}.bin`), x);
}

function turnwise(mode: string, folder: string, dist: string): Run {
  const child = join(import.meta.dirname, 'value-child.ts');
  return JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', child, mode, folder, dist], { encoding: 'utf8' }),
  );
}

/** A peer's run, with its own choice of BLAS kernels and threads; null where it is not installed. */
function python(mode: string, environment: string, folder: string, critical: number): Run | null {
  const bin = join(cache, environment, 'bin/python');
  if (!existsSync(bin)) return null;
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('OPENBLAS_')));
  const script = join(import.meta.dirname, 'value.py');
  try {
    const args = [script, mode, folder, String(critical)];
    return JSON.parse(execFileSync(bin, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] }));
  } catch (error) {
    report(
      `${mode}: ${String((error as { stderr?: unknown }).stderr ?? error)
        .trim()
        .split('\n')
        .at(-1)}`,
    );
    return null;
  }
}

function repeat(times: number, run: () => Run | null): Run[] {
  return Array.from({ length: times }, run).filter((r) => r !== null);
}

/** Refuses a peer that says something else. */
function compare(ours: Run, peer: Run, name: string): void {
  const off = (a: number, b: number): boolean => !(Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(b)));
  // Bootstrap limits of another library are not the same thing; values are.
  const figures = name === 'numpy' ? 4 : 1;
  for (const [estimator, theirs] of Object.entries(peer.estimates))
    for (let k = 0; k < figures && k < theirs.length; k++)
      if (off(ours.estimates[estimator]![k]!, theirs[k]!))
        throw new Error(`${name} ${estimator} [${k}]: ${theirs[k]}, here ${ours.estimates[estimator]![k]}`);
  if (peer.ess !== undefined && off(ours.ess! / peer.ess, 1))
    throw new Error(`${name}: ess ${peer.ess}, here ${ours.ess}`);
  if (peer.kHat != null && off(ours.kHat!, peer.kHat))
    throw new Error(`${name}: k̂ ${peer.kHat}, here ${ours.kHat}`);
}

function row(what: string, ours: readonly Run[], peers: readonly Run[], peer: BenchRow['peer']): BenchRow {
  const seconds = median(ours.map((r) => r.seconds));
  const peerSeconds = median(peers.map((r) => r.seconds));
  const [cpu, peerCpu] = [ours, peers].map((runs) => median(runs.map((r) => r.cpuSeconds))) as [
    number,
    number,
  ];
  report(
    `${what}, ${peer}: CPU ${cpu.toFixed(2)} s against ${peerCpu.toFixed(2)} s, ratio ${(peerCpu / cpu).toFixed(2)}`,
  );
  return {
    what,
    backend: 'cpu',
    seconds,
    peakMB: Math.max(...ours.map((r) => r.peakMB)),
    peer,
    peerSeconds,
    peerPeakMB: Math.max(...peers.map((r) => r.peakMB)),
    ratio: peerSeconds / seconds,
  };
}

const report = (line: string) => process.stderr.write(`${line}\n`);
