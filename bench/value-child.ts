import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { studentQuantile } from '../src/math/distributions.ts';

/** One measured run in a process of its own: `all FOLDER DIST` or `first-turn FOLDER DIST`. Reading is not timed. */
const [mode, folder, dist] = process.argv.slice(2) as [string, string, string];
const { estimateArrays } = (await import(
  `${dist}/value/stream/estimate-arrays.js`
)) as typeof import('../src/value/stream/estimate-arrays.ts');

const bytes = (name: string): ArrayBuffer => {
  const file = readFileSync(join(folder, `${name}.bin`));
  return file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer;
};
const doubles = (name: string) => new Float64Array(bytes(name));
const whole = new Int32Array(bytes('offsets'));
const task = new Int32Array(bytes('task'));
const [behaviour, target, rewards] = [doubles('behaviour'), doubles('target'), doubles('rewards')];
const count = task.reduce((a, b) => Math.max(a, b + 1), 0);
const clusters = { of: task, count };

/** The first turn of every episode: the one-turn case. */
const first = (x: Float64Array): Float64Array => Float64Array.from(task, (_, i) => x[whole[i]!]!);
const arrays =
  mode === 'all'
    ? { offsets: whole, b: behaviour, p: target, r: rewards, q: { logged: doubles('q'), v: doubles('v') } }
    : {
        offsets: Int32Array.from({ length: whole.length }, (_, i) => i),
        b: first(behaviour),
        p: first(target),
        r: first(rewards),
        q: undefined,
      };

type Given = Omit<typeof arrays, 'offsets'> & { readonly offsets: Int32Array };
const run = ({ offsets, b, p, r, q }: Given) => {
  const logRatios = new Float64Array(offsets[offsets.length - 1]!);
  for (let k = 0; k < logRatios.length; k++) logRatios[k] = p[k]! - b[k]!;
  return estimateArrays({ offsets, logRatios, rewards: r, clusters, q });
};
// A service is warm: a few thousand episodes first, for the compiler.
for (let k = 0; k < 20; k++) run({ ...arrays, offsets: arrays.offsets.slice(0, 2001) });

const before = process.cpuUsage();
const started = performance.now();
const found = run(arrays);
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
