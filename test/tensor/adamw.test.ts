import { afterEach, describe, expect, test } from 'vitest';
import { normal, random } from '../../src/math/random.ts';
import { AdamWConfig, adamw, disposeAdamW } from '../../src/tensor/adamw.ts';
import { gradientStep } from '../../src/tensor/gradient-step.ts';
import { mlp, mlpParameters } from '../../src/tensor/mlp.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

/**
 * Algorithm 2 of the paper as printed, in float64: m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ),
 * θ ← θ − α(m̂/(√v̂ + ε) + λ θ), the gradients first scaled to norm `maxNorm` at most.
 */
function asPrinted(config: AdamWConfig, theta: number[], gradients: number[][], alphas: number[]): number[] {
  const { beta1, beta2, epsilon, weightDecay, maxNorm } = config;
  const [m, v, x] = [theta.map(() => 0), theta.map(() => 0), [...theta]];
  gradients.forEach((raw, k) => {
    const norm = Math.hypot(...raw);
    const factor = maxNorm !== null && norm > maxNorm ? maxNorm / norm : 1;
    raw.forEach((own, i) => {
      const g = own * factor;
      m[i] = beta1 * m[i]! + (1 - beta1) * g;
      v[i] = beta2 * v[i]! + (1 - beta2) * g * g;
      const mHat = m[i]! / (1 - beta1 ** (k + 1));
      const vHat = v[i]! / (1 - beta2 ** (k + 1));
      x[i]! -= alphas[k]! * (mHat / (Math.sqrt(vHat) + epsilon) + weightDecay * x[i]!);
    });
  });
  return x;
}

describe.each(['cpu', 'onnx'] as const)('on %s', (backend) => {
  test.each([
    ['the defaults', {}],
    ['no decay', { weightDecay: 0 }],
    ['a large ε and a strong decay', { epsilon: 0.1, weightDecay: 0.5 }],
    ['clipped, other βs', { maxNorm: 0.7, beta1: 0.5, beta2: 0.9 }],
  ])('twenty steps are those of Algorithm 2: %s', async (_what, input) => {
    tensors = await openTensors({ backend });
    const { tf } = tensors;
    const rng = random(11);
    const draw = () => Array.from({ length: 6 }, () => Math.fround(normal(rng)));
    const theta = draw();
    const gradients = Array.from({ length: 20 }, draw);
    const alphas = gradients.map((_, k) => 0.02 / (1 + k));
    const [a, b] = [
      tf.variable(tf.tensor2d(theta.slice(0, 4), [2, 2])),
      tf.variable(tf.tensor1d(theta.slice(4))),
    ];
    const optimiser = adamw(tensors, { a, b }, input);
    for (const [k, g] of gradients.entries()) {
      // The loss Σ g θ has gradient g.
      const [ga, gb] = [tf.tensor2d(g.slice(0, 4), [2, 2]), tf.tensor1d(g.slice(4))];
      const loss = () => tf.add(tf.sum(tf.mul(a, ga)), tf.sum(tf.mul(b, gb))) as never;
      const { gradientNorm, step } = await gradientStep(tensors, optimiser, loss, {
        learningRate: alphas[k],
      });
      expect(step).toBe(k + 1);
      expect(gradientNorm).toBeCloseTo(Math.hypot(...g), 5);
    }
    const expected = asPrinted(AdamWConfig.parse(input), theta, gradients, alphas);
    const found = [...(await a.data()), ...(await b.data())];
    // Twenty steps of float32, weights of order 1.
    for (const [i, x] of expected.entries()) expect(Math.abs(found[i]! - x)).toBeLessThan(2e-6);
    expect(Math.max(...found.map((x, i) => Math.abs(x - theta[i]!)))).toBeGreaterThan(0.005);
    disposeAdamW(optimiser);
    expect(await a.data()).toHaveLength(4);
  });
});

test('the first step moves by the learning rate against the sign, whatever the size of the gradient', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  const x = tf.variable(tf.tensor1d([1, 1, 1]));
  const g = tf.tensor1d([1e-3, -50, 1e3]);
  const optimiser = adamw(tensors, { x }, { weightDecay: 0, learningRate: 0.25 });
  await gradientStep(tensors, optimiser, () => tf.sum(tf.mul(x, g)));
  const found = await x.data();
  for (const [k, y] of [0.75, 1.25, 0.75].entries()) expect(found[k]).toBeCloseTo(y, 4);
});

test('"matrices" leaves the decay of biases out; a gradient of 0 shows the decay alone', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  const [w, b] = [tf.variable(tf.ones([2, 2])), tf.variable(tf.ones([2]))];
  const flat = () => tf.mul(0, tf.add(tf.sum(w), tf.sum(b))) as never;
  const config = { weightDecay: 0.5, learningRate: 0.25 } as const;
  await gradientStep(tensors, adamw(tensors, { w, b }, { ...config, decayed: 'matrices' }), flat);
  expect([...(await w.data()), ...(await b.data())]).toEqual([0.875, 0.875, 0.875, 0.875, 1, 1]);
  await gradientStep(tensors, adamw(tensors, { w, b }, config), flat);
  expect([...(await b.data())]).toEqual([0.875, 0.875]);
});

test('what cannot be trained is refused', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  expect(() => adamw(tensors, {})).toThrow(/optimiser: there is no parameter to train/);
  const whole = tf.variable(tf.tensor1d([1], 'int32'));
  expect(() => adamw(tensors, { whole })).toThrow(
    'parameter whole: cannot be trained, got int32, expected a trainable float32 variable, by its name. mlpParameters gives those of layers; tf.variable makes one.',
  );
  expect(() => adamw(tensors, { x: tf.variable(tf.ones([1])) }, { beta1: 1 })).toThrow(
    /adamw settings: beta1: /,
  );
  const still = tf.variable(tf.ones([1]), false);
  expect(() => adamw(tensors, { still })).toThrow(
    'parameter still: cannot be trained, got float32, not trainable',
  );
  expect(() => adamw(tensors, { plain: tf.ones([1]) as never })).toThrow(
    'parameter plain: cannot be trained, got Tensor',
  );
  const layers = mlp(tensors, { sizes: [2, 1] });
  expect(() => adamw(tensors, layers as never)).toThrow('parameter 0: cannot be trained, got Object');
  expect(() => adamw(tensors, mlpParameters(layers), { lr: 1 } as never)).toThrow(
    /adamw settings: Unrecognized key: "lr". There are learningRate, beta1/,
  );
});
