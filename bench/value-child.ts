import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { studentQuantile } from '../src/math/distributions.ts';
import type { EpisodeArrays } from '../src/value/arrays/columns.ts';

/** One measured run in a process of its own: `all FOLDER DIST` or `first-turn FOLDER DIST`. Reading is not timed. */
const [mode, folder, dist] = process.argv.slice(2) as [string, string, string];
const { estimateArrays } = (await import(
  `${dist}/value/arrays/estimate-arrays.js`
)) as typeof import('../src/value/arrays/estimate-arrays.ts');

/** In shared memory, so that every core works on it. */
const bytes = (name: string): SharedArrayBuffer => {
  const file = readFileSync(join(folder, `${name}.bin`));
  const buffer = new SharedArrayBuffer(file.byteLength);
  new Uint8Array(buffer).set(file);
  return buffer;
};
const doubles = (name: string) => new Float64Array(bytes(name));
const whole = new Int32Array(bytes('offsets'));
const task = new Int32Array(bytes('task'));
const [behaviour, target, rewards] = [doubles('behaviour'), doubles('target'), doubles('rewards')];
const count = task.reduce((a, b) => Math.max(a, b + 1), 0);
const clusters = { of: task, count };

/** The first turn of every episode: the one-turn case. */
const first = (x: Float64Array): Float64Array => {
  const out = new Float64Array(new SharedArrayBuffer(8 * task.length));
  for (let i = 0; i < out.length; i++) out[i] = x[whole[i]!]!;
  return out;
};
const oneEach = new Int32Array(new SharedArrayBuffer(4 * whole.length));
for (let i = 0; i < oneEach.length; i++) oneEach[i] = i;
const arrays: EpisodeArrays =
  mode === 'all'
    ? { offsets: whole, behaviour, target, rewards, clusters, q: { logged: doubles('q'), v: doubles('v') } }
    : {
        offsets: oneEach,
        behaviour: first(behaviour),
        target: first(target),
        rewards: first(rewards),
        clusters,
      };

// A service is warm: a few thousand episodes first, for the compiler.
const few = 2000;
const some = arrays.offsets[few]!;
const part = (x: Float64Array) => x.slice(0, some);
const warm: EpisodeArrays = {
  offsets: arrays.offsets.slice(0, few + 1),
  behaviour: part(arrays.behaviour),
  target: part(arrays.target),
  rewards: part(arrays.rewards),
  clusters: { of: task.slice(0, few), count },
  q: arrays.q && { logged: part(arrays.q.logged), v: part(arrays.q.v) },
};
for (let k = 0; k < 20; k++) await estimateArrays(warm);

const before = process.cpuUsage();
const started = performance.now();
const found = await estimateArrays(arrays);
const seconds = (performance.now() - started) / 1000;
const used = process.cpuUsage(before);
const cpuSeconds = (used.user + used.system) / 1e6;
const estimates = Object.fromEntries(
  found.estimates.map(({ estimator, value, se, lo, hi }) => [estimator, [value, se, lo, hi]]),
);
const peakMB = process.resourceUsage().maxRSS / 1024;
const critical = studentQuantile(0.975, count - 1);
console.log(
  JSON.stringify({ seconds, cpuSeconds, peakMB, estimates, ess: found.ess, kHat: found.tail.k, critical }),
);
