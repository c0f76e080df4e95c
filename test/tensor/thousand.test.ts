/* A thousand training steps leave nothing behind, and batches of many shapes stay within the bound on graphs. */
import type { Tensor2D } from '@tensorflow/tfjs';
import { expect, test } from 'vitest';
import { gradientStep } from '../../src/tensor/gradient-step.ts';
import { mlpForward } from '../../src/tensor/mlp.ts';
import { openTensors } from '../../src/tensor/open-tensors.ts';
import { problem } from './two-layers.ts';

const collect = (globalThis as { gc?: () => void }).gc;

for (const backend of ['onnx', 'onnx-web'] as const)
  test(`${backend}: no tensor, graph or byte more after a thousand steps`, { timeout: 300_000 }, async ({
    skip,
  }) => {
    const tensors = await openTensors({ backend, threads: 1 }).catch((error: Error) => {
      skip(`skipped: ${error.message}`);
      throw error;
    });
    try {
      const { optimiser, loss } = problem(tensors);
      const steps = async (count: number) => {
        for (let k = 0; k < count; k++) await gradientStep(tensors, optimiser, loss);
        collect?.();
        return tensors.memory();
      };
      const warm = await steps(200);
      const after = await steps(1000);
      for (const what of ['tensors', 'entries', 'pending', 'sessions', 'compiles'] as const)
        expect(after[what], what).toBe(warm[what]);
      const grown = (after.rss - warm.rss) / 2 ** 20;
      console.log(
        `${backend}: resident memory ${(warm.rss / 2 ** 20).toFixed(0)} MB, ${grown.toFixed(1)} MB more after 1,000 steps`,
      );
      expect(grown).toBeLessThan(40); // the first version of the idea lost 122 MB a step
    } finally {
      await tensors.close();
    }
  });

test('fifty shapes of a batch: graphs stay within the bound, and old ones are compiled again', {
  timeout: 120_000,
}, async () => {
  const tensors = await openTensors({ backend: 'onnx', threads: 1, graphs: 8 });
  try {
    const { tf } = tensors;
    const { layers, optimiser } = problem(tensors);
    const step = async (rows: number) => {
      const x = tf.ones([rows, 3]) as Tensor2D;
      const { loss } = await gradientStep(tensors, optimiser, () =>
        tf.mean(tf.square(mlpForward(tf, layers, x))),
      );
      x.dispose();
      expect(Number.isFinite(loss)).toBe(true);
    };
    for (let rows = 1; rows <= 50; rows++) await step(rows);
    expect(tensors.memory().sessions).toBeLessThanOrEqual(8);
    const { compiles } = tensors.memory();
    await step(50);
    expect(tensors.memory().compiles).toBe(compiles);
    await step(1);
    expect(tensors.memory().compiles).toBeGreaterThan(compiles);
    expect(tensors.memory().sessions).toBeLessThanOrEqual(8);
  } finally {
    await tensors.close();
  }
});
