/* Frozen tensors: the same numbers as any other, bound once, let go of when they are disposed. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { adamw, gradientStep, openTensors, type Tensors } from '../../src/index.ts';
import { freezer } from '../../src/tensor/freeze.ts';
import { numbers, spied } from './spied.ts';

beforeAll(() => {
  tf.env().set('PROD', true);
});

describe.each(['onnx', 'onnx-web', 'cpu'] as const)('on %s', (backend) => {
  let tensors: Tensors;
  afterEach(() => tensors.close());

  test('a frozen tensor gives the numbers and the gradients of any other', async () => {
    tensors = await openTensors({ backend, threads: 1 });
    const cases = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 })).chain(([n, k]) =>
      fc.record({
        x: fc.array(numbers, { minLength: n * k, maxLength: n * k }),
        w: fc.array(numbers, { minLength: k * k, maxLength: k * k }),
        rows: fc.constant(n),
        columns: fc.constant(k),
      }),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ({ x, w, rows, columns: k }) => {
        // f = Σ x W + x W' + w₀ over all, so that ∂f/∂x[i, j] = Σ_l (W[j, l] + W[l, j]): in doubles, by hand.
        const at = (i: number, j: number): number => w[i * k + j]!;
        const slope = (j: number): number => {
          let sum = 0;
          for (let l = 0; l < k; l++) sum += at(j, l) + at(l, j);
          return sum;
        };
        let total = w[0]!;
        for (let i = 0; i < rows; i++) for (let j = 0; j < k; j++) total += x[i * k + j]! * slope(j);
        const given = tf.tensor2d(w, [k, k]);
        const frozen = await tensors.freeze(given);
        given.dispose();
        const own = tf.tensor2d(x, [rows, k]);
        const { value, grad } = tf.tidy(() =>
          tf.valueAndGrad((z: tf.Tensor2D) => {
            const turned = tf.matMul(z, tf.reshape(tf.transpose(tf.reshape(frozen, [k, k])), [k, k]));
            const first = tf.slice(tf.reshape(frozen, [k * k]), 0, 1);
            return tf.add(tf.sum(tf.add(tf.matMul(z, frozen), turned)), tf.sum(first)) as tf.Scalar;
          })(own),
        );
        const close = (found: number, expected: number) =>
          expect(Math.abs(found - expected)).toBeLessThan(1e-5 * Math.max(1, Math.abs(expected)));
        close((await value.data())[0]!, total);
        for (const [at, found] of (await grad.data()).entries()) close(found, slope(at % k));
        expect(await frozen.data()).toEqual(Float32Array.from(w));
        tf.dispose([value, grad, own, frozen]);
        expect(tensors.memory().sessions).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  test('whole numbers, masks, scalars and empty ones are frozen too', async () => {
    tensors = await openTensors({ backend, threads: 1 });
    const given = [
      tf.tensor1d([2, 0], 'int32'),
      tf.tensor1d([true, false], 'bool'),
      tf.scalar(3),
      tf.zeros([0, 2]),
    ];
    const [places, mask, three, none] = await Promise.all(given.map((x) => tensors.freeze(x)));
    const table = await tensors.freeze(tf.tensor1d([10, 20, 30]));
    const rows = tf.gather(table, places as tf.Tensor1D);
    const kept = tf.where(mask!, tf.mul(rows, three!), tf.zerosLike(rows));
    expect([...(await kept.data())]).toEqual([90, 0]);
    expect(tf.concat([none!, tf.ones([1, 2])], 0).shape).toEqual([1, 2]);
    expect(mask!.dtype).toBe('bool');
  });

  test('of a variable, the values it has now', async () => {
    tensors = await openTensors({ backend, threads: 1 });
    const w = tf.variable(tf.tensor1d([1, 2]));
    const frozen = await tensors.freeze(w);
    w.assign(tf.tensor1d([5, 6]));
    expect([...(await tf.add(frozen, 0).data())]).toEqual([1, 2]);
    // What is computed with it is trained: d(w·f)²/dw = 2 (w·f) f = 34 (1, 2).
    const optimiser = adamw(tensors, { w }, { weightDecay: 0 });
    const loss = () => tf.square(tf.sum(tf.mul(w, frozen))) as tf.Scalar;
    const { loss: before, gradientNorm } = await gradientStep(tensors, optimiser, loss);
    expect(before).toBe(17 ** 2);
    expect(gradientNorm).toBeCloseTo(34 * Math.sqrt(5), 4);
    expect([...(await frozen.data())]).toEqual([1, 2]);
  });
});

describe('bound once', () => {
  test('it is not fed, nor is its reshaped form; another is', async ({ skip }) => {
    const { recorder, runs, compiled } = await spied('fed', skip);
    const { freeze } = freezer(tf, recorder);
    const plain = tf.tensor2d([1, 2, 3, 4], [2, 2]);
    const frozen = await freeze(plain);
    for (const x of [1, 2, 3]) {
      const y = tf.tidy(() =>
        tf.add(tf.mul(tf.tensor1d([x]), tf.sum(tf.reshape(frozen, [4]))), tf.sum(frozen)),
      );
      expect((await y.data())[0]).toBe(10 * x + 10);
    }
    expect(runs).toEqual([1, 1, 1]); // the list of one alone
    expect(compiled.length).toBe(1);
    await tf.tidy(() => tf.mul(tf.tensor1d([1]), tf.sum(plain))).data();
    expect(runs.at(-1)).toBe(2);
    await recorder.close();
  });

  test('what is written to the list a tensor was made of does not reach it', async ({ skip }) => {
    const { recorder } = await spied('copied', skip);
    const { freeze } = freezer(tf, recorder);
    const list = Float32Array.of(1, 2);
    const frozen = await freeze(tf.tensor1d(list));
    expect([...(await tf.mul(frozen, 2).data())]).toEqual([2, 4]);
    list[0] = 100;
    expect([...(await tf.mul(frozen, 2).data())]).toEqual([2, 4]);
    expect([...(await tf.sub(frozen, 2).data())]).toEqual([-1, 0]);
    await recorder.close();
  });

  test('disposing it releases the graphs that hold it, and those alone', async ({ skip }) => {
    const { recorder, released } = await spied('released', skip);
    const { freeze } = freezer(tf, recorder);
    const [a, b] = [await freeze(tf.tensor1d([1, 2])), await freeze(tf.tensor1d([3, 4]))];
    await tf.exp(a).data();
    await tf.exp(b).data();
    await tf.add(a, b).data();
    const other = tf.clone(a);
    a.dispose();
    expect(recorder.stats().sessions).toBe(3); // its values are still somebody's
    other.dispose();
    expect(recorder.stats().sessions).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(released.length).toBe(2);
    expect([...(await tf.mul(b, 2).data())]).toEqual([6, 8]);
    await recorder.close();
    expect(new Set(released).size).toBe(3 + 1);
    expect(released.length).toBe(3 + 1);
  });

  test('disposed between recording and computing, or during the run: computed, and released after', async ({
    skip,
  }) => {
    const { recorder, released, hold } = await spied('late', skip);
    const { freeze } = freezer(tf, recorder);
    const a = await freeze(tf.tensor1d([1, 2]));
    const early = tf.mul(a, 2);
    a.dispose();
    expect([...(await early.data())]).toEqual([2, 4]);
    expect(recorder.stats().sessions).toBe(0);
    expect(released.length).toBe(1);

    const b = await freeze(tf.tensor1d([3, 4]));
    const go = hold();
    const reading = tf.mul(b, 2).data();
    await new Promise((resolve) => setTimeout(resolve, 50));
    b.dispose();
    expect(released.length).toBe(1);
    go();
    expect([...(await reading)]).toEqual([6, 8]);
    expect(recorder.stats().sessions).toBe(0);
    expect(released.length).toBe(2);
    await recorder.close();
    expect(released.length).toBe(2);
  });
});
