/*
 * A multilayer perceptron: h ← f(h W + b), layer after layer. Initial weights by the layer's own activation:
 *
 *   relu, gelu       N(0, 2/n_in)                        He et al., "Delving Deep into Rectifiers" (ICCV 2015), eq. 10
 *   tanh, identity   U(−a, a), a = √(6/(n_in + n_out))   Glorot & Bengio (AISTATS 2010), eq. 16
 *
 * Biases start at 0. gelu(x) = x Φ(x), exact (Hendrycks & Gimpel 2016), not the tanh approximation.
 * Departure: He et al. derive the variance for relu; gelu takes the same.
 */
import type { Tensor2D, Variable } from '@tensorflow/tfjs';
import { normal, type Random, uniform } from '../math/random.ts';
import { failure } from '../schema/error.ts';
import type { Tf } from './engine.ts';
import type { Tensors } from './open-tensors.ts';

export type Activation = 'relu' | 'tanh' | 'gelu' | 'identity';

export interface Layer {
  readonly weight: Variable; // [n_in, n_out]
  readonly bias: Variable; // [n_out]
  readonly activation: Activation;
}

export interface MlpShape {
  /** Inputs, hidden layers, outputs: [8, 64, 64, 1]. */
  readonly sizes: readonly number[];
  /** Of the hidden layers; the last is linear. */
  readonly activation?: Exclude<Activation, 'identity'> | undefined;
}

/** Layers with initial weights from the door's generator. */
export function mlp(
  { tf, random }: Pick<Tensors, 'tf' | 'random'>,
  { sizes, activation = 'relu' }: MlpShape,
): Layer[] {
  if (sizes.length < 2 || !sizes.every((n) => Number.isSafeInteger(n) && n > 0))
    throw failure({
      subject: 'mlp',
      wrong: 'no such layers',
      got: `[${sizes.join(', ')}]`,
      expected: 'at least two sizes, each a whole number of at least 1',
    });
  return sizes.slice(1).map((n, k) => {
    const own: Activation = k === sizes.length - 2 ? 'identity' : activation;
    const values = initial(random, own, sizes[k]!, n);
    return tf.tidy(() => ({
      weight: tf.variable(tf.tensor2d(values, [sizes[k]!, n])),
      bias: tf.variable(tf.tensor1d(new Float32Array(n))),
      activation: own,
    }));
  });
}

/** Outputs [rows, n_out] of inputs [rows, n_in]. */
export function mlpForward(tf: Tf, layers: readonly Layer[], x: Tensor2D): Tensor2D {
  return tf.tidy(() =>
    layers.reduce(
      (h, { weight, bias, activation }) =>
        activate(tf, activation, tf.add(tf.matMul(h, weight as never), bias)),
      x,
    ),
  );
}

/** By name, as optimisers and checkpoints take them: `layer0.weight`, `layer0.bias`, … */
export function mlpParameters(layers: readonly Layer[], prefix = ''): Record<string, Variable> {
  return Object.fromEntries(
    layers.flatMap(({ weight, bias }, k): [string, Variable][] => [
      [`${prefix}layer${k}.weight`, weight],
      [`${prefix}layer${k}.bias`, bias],
    ]),
  );
}

function activate(tf: Tf, activation: Activation, x: Tensor2D): Tensor2D {
  if (activation === 'relu') return tf.relu(x);
  if (activation === 'tanh') return tf.tanh(x);
  if (activation === 'identity') return x;
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));
}

function initial(random: Random, activation: Activation, nIn: number, nOut: number): Float32Array {
  const values = new Float32Array(nIn * nOut);
  const he = activation === 'relu' || activation === 'gelu';
  const scale = he ? Math.sqrt(2 / nIn) : Math.sqrt(6 / (nIn + nOut));
  for (let k = 0; k < values.length; k++) values[k] = scale * (he ? normal(random) : 2 * uniform(random) - 1);
  return values;
}
