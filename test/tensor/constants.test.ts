/* Numbers given from outside are constants of a graph until they differ; repeated tensors are not made where nobody needs them. */
import type { Tensor } from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { collect } from '../../src/tensor/onnx/collect.ts';
import type { Recorder } from '../../src/tensor/onnx/recorder.ts';
import { simplify } from '../../src/tensor/onnx/simplify.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

test('the same number again is the same graph, another one is fed from then on', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const x = tf.tensor1d([1, 2]);
  const times = async (c: number): Promise<number[]> => [...(await tf.mul(x, c).data())];
  const compiles = async (c: number, expected: number[]) => {
    const before = tensors.memory().compiles;
    expect(await times(c)).toEqual(expected);
    return tensors.memory().compiles - before;
  };
  expect(await compiles(3, [3, 6])).toBe(1);
  expect(await compiles(3, [3, 6])).toBe(0);
  expect(await compiles(5, [5, 10])).toBe(1); // now known to vary
  expect(await compiles(7, [7, 14])).toBe(0);
  expect(await compiles(3, [3, 6])).toBe(0);
  expect(await compiles(Number.NaN, [Number.NaN, Number.NaN])).toBe(0);
});

test('of two numbers only the one that varies is fed; −0 is not 0, NaN is itself', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const x = tf.tensor1d([1, -1]);
  const value = async (a: number, b: number) => [...(await tf.add(tf.div(x, a), b).data())];
  const start = tensors.memory().compiles;
  expect(await value(0, 1)).toEqual([Infinity, -Infinity]);
  expect(await value(-0, 1)).toEqual([-Infinity, Infinity]);
  expect(tensors.memory().compiles - start).toBe(2);
  expect(await value(2, Number.NaN)).toEqual([Number.NaN, Number.NaN]); // b varies now as well
  expect(tensors.memory().compiles - start).toBe(3);
  expect(await value(4, Number.NaN)).toEqual([Number.NaN, Number.NaN]);
  expect(await value(4, 0.5)).toEqual([0.75, 0.25]);
  expect(tensors.memory().compiles - start).toBe(3);
});

test('a list of one number is fed from the start', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const x = tf.tensor1d([1, 2]);
  const before = tensors.memory().compiles;
  for (const c of [2, 3, 4]) expect([...(await tf.mul(x, tf.tensor1d([c])).data())]).toEqual([c, 2 * c]);
  expect(tensors.memory().compiles - before).toBe(1);
});

test('a forgotten structure starts anew, with the right values', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1, graphs: 1 });
  const { tf } = tensors;
  for (let round = 0; round < 2; round++)
    for (let n = 1; n <= 6; n++) {
      const found = await tf.mul(tf.ones([n]), n + round).data();
      expect([...found]).toEqual(Array(n).fill(n + round));
    }
  expect(tensors.memory().sessions).toBeLessThanOrEqual(1);
});

/** How many operations are written for a tensor. */
function written(x: Tensor): string[] {
  const recorder = tensors.tf.backend() as unknown as Recorder;
  return simplify(collect([recorder.entry(x.dataId)])).map(({ node }) => node.op.name);
}

test('what an operation repeats by itself is not repeated before it', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const [row, all] = [tf.sqrt(tf.tensor2d([1, 4, 9], [1, 3])), tf.exp(tf.fill([2, 3], 0))];
  const repeats = (x: Tensor) => written(x).filter((name) => /Tile|Expand/.test(name)).length;
  expect(repeats(all)).toBe(1); // a function of one number keeps its zeros
  expect(repeats(tf.mul(tf.broadcastTo(row, [2, 3]), all))).toBe(1);
  expect(repeats(tf.mul(all, tf.fill([2, 3], 1)))).toBe(1);
  expect(repeats(tf.add(tf.broadcastTo(row, [2, 3]), 1))).toBe(1); // nothing else is as large
  expect(repeats(tf.tile(row, [2, 2]))).toBe(1);
  const four = tf.sqrt(tf.tensor2d([1, 4, 9, 16], [1, 4]));
  expect(
    repeats(tf.mul(tf.tile(tf.sqrt(tf.tensor2d([1, 4], [1, 2])), [2, 2]), tf.broadcastTo(four, [2, 4]))),
  ).toBe(1);
});

test('repeated tensors through every function of two: as on cpu', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const NAMES = [
    'add',
    'sub',
    'mul',
    'div',
    'maximum',
    'minimum',
    'squaredDifference',
    'less',
    'equal',
  ] as const;
  const side = fc.constantFrom('whole', 'row', 'column', 'one', 'copies');
  const law = fc.asyncProperty(fc.constantFrom(...NAMES), side, side, async (name, left, right) => {
    const run = async (t: typeof tf) => {
      const make = (kind: string, from: number) => {
        const list = (n: number) => Array.from({ length: n }, (_, k) => ((k * 7 + from) % 5) + 0.5);
        if (kind === 'whole') return t.tensor2d(list(8), [2, 4]);
        if (kind === 'copies') return t.tile(t.sqrt(t.tensor2d(list(4), [2, 2])), [1, 2]);
        const shape = { row: [1, 4], column: [2, 1], one: [1, 1] }[kind as 'row'] as [number, number];
        return t.broadcastTo(t.sqrt(t.tensor2d(list(shape[0] * shape[1]), shape)), [2, 4]);
      };
      const found = (t[name] as (a: Tensor, b: Tensor) => Tensor)(make(left, 0), make(right, 3));
      expect(found.shape).toEqual([2, 4]);
      return [...(await found.data())];
    };
    const own = await run(tf);
    tf.setBackend('cpu');
    const expected = await run(tf);
    tf.setBackend('onnx');
    for (const [k, y] of own.entries()) expect(y).toBeCloseTo(expected[k]!, 5);
  });
  await fc.assert(law, { numRuns: 120 });
});
