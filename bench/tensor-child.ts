import * as tf from '@tensorflow/tfjs';
import type { BackendName } from '../src/tensor/backends.ts';
import { openDoubles } from '../src/tensor/doubles.ts';
import { openTensors } from '../src/tensor/open-tensors.ts';
import { decoder, initial, mlp } from './tensor-decoder.ts';

/** One measured case on one backend, in a process of its own: `BACKEND CASE STEPS`; prints JSON. */
const [backend, what, count] = process.argv.slice(2) as [string, string, string];
const [kind, a = 0, b = 0, c = 0] = what.split(',').map((x, k) => (k === 0 ? x : Number(x))) as [
  string,
  ...number[],
];
tf.env().set('PROD', true);
/** Plain JavaScript takes its time, and takes as long at first. */
const WARM = backend === 'cpu' ? 0 : 3;

/** Seconds of each of `count` runs, after some that warm up. */
async function timed(run: () => Promise<number>): Promise<{ seconds: number[]; first: number }> {
  const seconds: number[] = [];
  let first = 0;
  for (let k = 0; k < Number(count) + WARM; k++) {
    const started = performance.now();
    const value = await run();
    if (k === 0) first = value;
    if (k >= WARM) seconds.push((performance.now() - started) / 1000);
  }
  return { seconds, first };
}

async function measured() {
  if (kind === 'gram64') {
    const doubles = await openDoubles();
    const x = Float64Array.from(initial(a * b, 1, 1));
    return timed(async () => (await doubles.gram(x, a, b))[1]!);
  }
  await setBackend();
  if (kind === 'gram32') {
    const x = tf.tensor2d(initial(a * b, 1, 1), [a, b]);
    return timed(async () => {
      const g = tf.matMul(x, x, true);
      const values = await g.data();
      g.dispose();
      return values[1]!;
    });
  }
  const model =
    kind === 'decoder' || kind === 'plain-decoder'
      ? decoder(tf, { width: a, batch: b, length: c }, kind === 'plain-decoder')
      : mlp(tf, { batch: a, inputs: b, hidden: c });
  const adam = tf.train.adam(1e-3);
  return timed(async () => {
    const loss = adam.minimize(() => model.loss(), true)!;
    const [value] = await loss.data();
    loss.dispose();
    return value!;
  });
}

async function setBackend(): Promise<void> {
  if (backend === 'tfjs-wasm') {
    const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
    void setWasmPaths;
    await tf.setBackend('wasm');
    return;
  }
  await openTensors({ backend: backend as BackendName });
}

const { seconds, first } = await measured();
console.log(JSON.stringify({ seconds, first, peakMB: process.resourceUsage().maxRSS / 1024 }));
process.exit(0);
