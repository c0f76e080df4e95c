import { afterEach, expect, test } from 'vitest';
import { mlp, mlpForward, mlpParameters } from '../../src/tensor/mlp.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

/** erf by its Taylor series, exact to rounding for |x| < 3. */
function erf(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 100; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
const BY_HAND = {
  relu: (x: number) => Math.max(0, x),
  tanh: Math.tanh,
  gelu: (x: number) => x * 0.5 * (1 + erf(x / Math.SQRT2)),
};

test.each(['cpu', 'onnx'] as const)('on %s h ← f(h W + b), the last layer linear', async (backend) => {
  tensors = await openTensors({ backend, seed: 4 });
  const { tf } = tensors;
  for (const [activation, f] of Object.entries(BY_HAND)) {
    const layers = mlp(tensors, { sizes: [2, 3, 1], activation: activation as 'relu' });
    expect(layers.map((layer) => layer.activation)).toEqual([activation, 'identity']);
    layers[0]!.bias.assign(tf.tensor1d([0.1, -0.2, 0.3]));
    layers[1]!.bias.assign(tf.tensor1d([-0.5]));
    const [w, v] = [await layers[0]!.weight.data(), await layers[1]!.weight.data()];
    const rows = [
      [1, -0.5],
      [-2, 0.25],
    ];
    const expected = rows.map(([x, y]) =>
      [0.1, -0.2, 0.3].reduce((sum, b, j) => sum + f(x! * w[j]! + y! * w[3 + j]! + b) * v[j]!, -0.5),
    );
    const before = tensors.memory().tensors;
    const found = mlpForward(tf, layers, tf.tensor2d(rows));
    expect(found.shape).toEqual([2, 1]);
    const values = await found.data();
    for (const [i, y] of expected.entries()) expect(values[i]).toBeCloseTo(y, 5);
    expect(tensors.memory().tensors).toBe(before + 2); // the rows and the result
  }
});

test('initial weights have the published spread, biases are 0', async () => {
  tensors = await openTensors({ backend: 'cpu', seed: 1 });
  const [first, last] = mlp(tensors, { sizes: [200, 400, 100], activation: 'relu' });
  const he = [...(await first!.weight.data())];
  const meanSquare = (x: readonly number[]) => x.reduce((sum, y) => sum + y * y, 0) / x.length;
  // The mean square of n normal draws has standard error √(2/n) of its value: 0.5 % here.
  expect(meanSquare(he) / (2 / 200)).toBeGreaterThan(0.98);
  expect(meanSquare(he) / (2 / 200)).toBeLessThan(1.02);
  expect(Math.max(...he)).toBeGreaterThan(3.5 * Math.sqrt(2 / 200)); // a normal has tails
  const glorot = [...(await last!.weight.data())];
  const limit = Math.sqrt(6 / 500);
  expect(Math.max(...glorot.map(Math.abs))).toBeLessThanOrEqual(Math.fround(limit));
  expect(Math.max(...glorot)).toBeGreaterThan(0.999 * limit);
  expect(Math.min(...glorot)).toBeLessThan(-0.999 * limit);
  expect(meanSquare(glorot) / (limit ** 2 / 3)).toBeCloseTo(1, 1);
  expect(new Set(await first!.bias.data())).toEqual(new Set([0]));
  const [tanh] = mlp(tensors, { sizes: [200, 400, 100], activation: 'tanh' });
  expect(Math.max(...(await tanh!.weight.data()))).toBeLessThanOrEqual(Math.fround(Math.sqrt(6 / 600)));
});

test('the same seed gives the same weights, the next network others', async () => {
  tensors = await openTensors({ backend: 'cpu', seed: 9 });
  const weights = async () => [...(await mlp(tensors, { sizes: [4, 4] })[0]!.weight.data())];
  const [first, second] = [await weights(), await weights()];
  expect(second).not.toEqual(first);
  await tensors.close();
  tensors = await openTensors({ backend: 'cpu', seed: 9 });
  expect([await weights(), await weights()]).toEqual([first, second]);
});

test('parameters by name; a shape that does not fit as TensorFlow.js names it; no layers refused', async () => {
  tensors = await openTensors({ backend: 'onnx' });
  const layers = mlp(tensors, { sizes: [2, 3, 1] });
  expect(Object.keys(mlpParameters(layers, 'q.'))).toEqual([
    'q.layer0.weight',
    'q.layer0.bias',
    'q.layer1.weight',
    'q.layer1.bias',
  ]);
  const { tf } = tensors;
  expect(() => mlpForward(tf, layers, tf.ones([1, 3]))).toThrow(
    /Error in matMul: inner shapes \(3\) and \(2\)/,
  );
  for (const sizes of [[], [2], [2, 0], [2, 1.5], [2, -1]])
    expect(() => mlp(tensors, { sizes })).toThrow(/mlp: no such layers/);
});

test('an activation, a setting, an input that there is not: refused by name', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  expect(() => mlp(tensors, { sizes: [2, 1], activation: 'silu' as never })).toThrow(
    'mlp: no such activation, got silu, expected one of relu, tanh, gelu',
  );
  expect(() => mlp(tensors, { sizes: [2, 1], activaton: 'tanh' } as never)).toThrow(
    'mlp: no such setting, got activaton, expected among sizes, activation',
  );
  const [layer] = mlp(tensors, { sizes: [2, 1] });
  expect(() => mlpForward(tf, [{ ...layer!, activation: undefined as never }], tf.ones([1, 2]))).toThrow(
    'layer: no such activation, got undefined, expected one of relu, tanh, gelu, identity',
  );
  expect(() => mlpForward(tf, [layer!], tf.ones([2]))).toThrow(
    'mlp, inputs: not rows of numbers, got [2], expected [rows, 2]',
  );
});
