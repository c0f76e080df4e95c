import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { adamw } from '../../src/tensor/adamw.ts';
import { loadCheckpoint, saveCheckpoint } from '../../src/tensor/checkpoint.ts';
import { gradientStep } from '../../src/tensor/gradient-step.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';
import { writeSafetensors } from '../../src/tensor/safetensors.ts';
import { bytesOf, problem } from './two-layers.ts';

let folder: string;
let path: string;
let tensors: Tensors;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-checkpoint-'));
  path = join(folder, 'a.safetensors');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => tensors.close());

const CONFIG = { learningRate: 0.02, maxNorm: 1, decayed: 'matrices' } as const;

test.each(['onnx', 'onnx-web', 'cpu'] as const)(
  'on %s a checkpoint read back gives the same next steps bit for bit',
  async (backend) => {
    tensors = await openTensors({ backend, seed: 1, threads: 2 });
    const { optimiser, loss } = problem(tensors, CONFIG);
    for (let k = 0; k < 5; k++) await gradientStep(tensors, optimiser, loss);
    await saveCheckpoint(optimiser, path);
    const went = [];
    for (let k = 0; k < 3; k++) went.push(await gradientStep(tensors, optimiser, loss));
    const bytes = await bytesOf(optimiser);
    await tensors.close();

    // Another door, another seed: everything that matters is in the file.
    tensors = await openTensors({ backend, seed: 2, threads: 2 });
    const again = problem(tensors, CONFIG);
    expect(await bytesOf(again.optimiser)).not.toEqual(bytes);
    await loadCheckpoint(tensors, again.optimiser, path);
    expect(again.optimiser.step).toBe(5);
    const found = [];
    for (let k = 0; k < 3; k++) found.push(await gradientStep(tensors, again.optimiser, again.loss));
    expect(found).toEqual(went);
    expect(await bytesOf(again.optimiser)).toEqual(bytes);
  },
);

test('the same state gives the same file', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { optimiser } = problem(tensors, CONFIG);
  await saveCheckpoint(optimiser, path);
  const before = readFileSync(path);
  await saveCheckpoint(optimiser, path);
  expect(readFileSync(path)).toEqual(before);
});

test('what does not fit is refused, and nothing is taken from it', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  const vector = (...values: number[]) => tf.tidy(() => tf.variable(tf.tensor1d(values)));
  const saved = adamw(tensors, { a: vector(1, 2), b: vector(3) });
  await saveCheckpoint(saved, path);
  const held = tensors.memory().tensors;
  const into = async (names: Record<string, number[]>, config = {}) => {
    const parameters = Object.fromEntries(Object.entries(names).map(([name, x]) => [name, vector(...x)]));
    const own = adamw(tensors, parameters, config);
    const before = await bytesOf(own);
    let message = 'loaded';
    await loadCheckpoint(tensors, own, path).catch((error: Error) => (message = error.message));
    if (message !== 'loaded') expect(await bytesOf(own)).toEqual(before);
    tf.dispose([own.parameters, own.m, own.v] as never);
    return message.replaceAll(path, 'FILE');
  };
  expect(await into({ a: [9, 9], b: [9] })).toBe('loaded');
  expect(await into({ a: [9, 9] })).toBe('FILE: holds adamw.m/b, which the model has not');
  expect(await into({ a: [9, 9], b: [9], c: [9] })).toBe('FILE: holds no parameters/c');
  expect(await into({ a: [9, 9], b: [9, 9] })).toBe(
    'FILE: parameters/b: has another shape, got F32 [1], expected F32 [2]',
  );
  expect(await into({ a: [9, 9], b: [9] }, { beta2: 0.99 })).toMatch(
    /^FILE: was trained with another beta2, got 0.999, expected 0.99\. Make the optimiser/,
  );
  expect(tensors.memory().tensors).toBe(held);

  await writeSafetensors(path, {});
  expect(await into({ a: [9] })).toBe(
    'FILE: is no checkpoint, got format undefined, expected "turnwise checkpoint 1"',
  );
  await writeSafetensors(path, {}, { format: 'turnwise checkpoint 1', step: 'x', adamw: '{}' });
  expect(await into({ a: [9] })).toBe('FILE: the step count is no whole number, got x');
  await writeSafetensors(path, {}, { format: 'turnwise checkpoint 1', step: '1', adamw: '{"beta1":7}' });
  expect(await into({ a: [9] })).toBe('FILE: the configuration of the optimiser cannot be read');
  writeFileSync(path, 'no');
  expect(await into({ a: [9] })).toMatch(/^FILE: is too short for safetensors/);
});

test('while a step is on its way there is no state to save or to replace', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { optimiser, loss } = problem(tensors);
  const step = gradientStep(tensors, optimiser, loss);
  const refused = await Promise.allSettled([
    saveCheckpoint(optimiser, path),
    loadCheckpoint(tensors, optimiser, path),
  ]);
  for (const one of refused)
    expect(one).toMatchObject({ reason: { message: expect.stringMatching(/a step has not ended/) } });
  await step;
});
