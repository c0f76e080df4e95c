/* Trains ten steps and prints what came of it: a process of its own. `train-child.ts BACKEND THREADS SEED` */
import { createHash } from 'node:crypto';
import type { BackendName } from '../../src/tensor/backends.ts';
import { gradientStep } from '../../src/tensor/gradient-step.ts';
import { openTensors } from '../../src/tensor/open-tensors.ts';
import { bytesOf, problem } from './two-layers.ts';

const [backend, threads, seed] = process.argv.slice(2);
const tensors = await openTensors({
  backend: backend as BackendName,
  threads: Number(threads),
  seed: Number(seed),
});
const { optimiser, loss } = problem(tensors, { maxNorm: 1, learningRate: 0.02 });
const losses: number[] = [];
for (let k = 0; k < 10; k++) losses.push((await gradientStep(tensors, optimiser, loss)).loss);
const sha256 = createHash('sha256')
  .update(await bytesOf(optimiser))
  .digest('hex');
console.log(JSON.stringify({ sha256, losses }));
await tensors.close();
