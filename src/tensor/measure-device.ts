/*
 * Times a product and a training step on one backend: a process of its own, so that a driver that ends it ends nothing
 * else and that each is given the same empty memory. `measure-device BACKEND THREADS`, a Device as JSON comes out.
 */
import { writeSync } from 'node:fs';
import { normal, random } from '../math/random.ts';
import type { Device } from '../schema/devices.ts';
import { TurnwiseError } from '../schema/error.ts';
import { adamw } from './adamw.ts';
import type { BackendName } from './backends.ts';
import { gradientStep } from './gradient-step.ts';
import { mlp, mlpForward, mlpParameters } from './mlp.ts';
import { openTensors, type Tensors } from './open-tensors.ts';

const SIDE = 1024;
const ROWS = 256;
const SIZES = [64, 256, 256, 1];
/** A measurement repeats until this many seconds or runs have gone by. */
const [SECONDS, RUNS] = [1, 15];

const [backend, threads] = process.argv.slice(2) as [BackendName, string];
writeSync(1, `\n${JSON.stringify(await measured(backend, Number(threads)))}`);
process.exit(0);

async function measured(backend: BackendName, threads: number): Promise<Device> {
  const missing = {
    label: null,
    productSeconds: null,
    productGflops: null,
    stepSeconds: null,
    peakMB: null,
  };
  let tensors: Tensors;
  try {
    tensors = await openTensors({ backend, threads });
  } catch (error) {
    if (!(error instanceof TurnwiseError)) throw error;
    const whyNot = error.message.replace(/^.*?: is not there: /, '').replace(/\. "turnwise devices".*$/, '');
    return { backend, runs: false, whyNot, ...missing };
  }
  const product = await productSeconds(tensors);
  const step = await stepSeconds(tensors);
  await tensors.close();
  return {
    backend,
    runs: true,
    label: tensors.label,
    whyNot: null,
    productSeconds: product,
    productGflops: (2 * SIDE ** 3) / product / 1e9,
    stepSeconds: step,
    peakMB: process.resourceUsage().maxRSS / 1024,
  };
}

async function productSeconds({ tf }: Tensors): Promise<number> {
  const rng = random(0, 'product');
  const matrix = () =>
    tf.tensor2d(
      Float32Array.from({ length: SIDE * SIDE }, () => normal(rng)),
      [SIDE, SIDE],
    );
  const [a, b] = [matrix(), matrix()];
  const seconds = await median(async () => {
    const c = tf.matMul(a, b);
    await c.data();
    c.dispose();
  });
  tf.dispose([a, b]);
  return seconds;
}

async function stepSeconds(tensors: Tensors): Promise<number> {
  const { tf } = tensors;
  const rng = random(0, 'rows');
  const draw = (n: number) => Float32Array.from({ length: n }, () => normal(rng));
  const x = tf.tensor2d(draw(ROWS * SIZES[0]!), [ROWS, SIZES[0]!]);
  const y = tf.tensor2d(draw(ROWS), [ROWS, 1]);
  const layers = mlp(tensors, { sizes: SIZES });
  const optimiser = adamw(tensors, mlpParameters(layers), { maxNorm: 1 });
  return median(() =>
    gradientStep(tensors, optimiser, () => tf.mean(tf.square(tf.sub(mlpForward(tf, layers, x), y)))),
  );
}

/** Seconds of the middle run, the first (which compiles) apart; where that alone takes too long it is the figure. */
async function median(run: () => Promise<unknown>): Promise<number> {
  const timed = async () => {
    const start = performance.now();
    await run();
    return (performance.now() - start) / 1000;
  };
  const first = await timed();
  if (first > 2 * SECONDS) return first;
  const all: number[] = [];
  for (let spent = 0; all.length < RUNS && spent < SECONDS; spent += all.at(-1)!) all.push(await timed());
  return all.sort((a, b) => a - b)[all.length >> 1]!;
}
