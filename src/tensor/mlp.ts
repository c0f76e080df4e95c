/*
 * A multilayer perceptron: h ← f(h W + b), layer after layer. Initial weights by the layer's own activation:
 *
 *   relu, gelu       N(0, 2/n_in)                        He et al., "Delving Deep into Rectifiers" (ICCV 2015), eq. 10
 *   tanh, identity   U(−a, a), a = √(6/(n_in + n_out))   Glorot & Bengio (AISTATS 2010), eq. 16
 *
 * Biases start at 0. gelu(x) = x Φ(x), exact (Hendrycks & Gimpel 2016), not the tanh approximation.
 * Departure: He et al. derive the variance for relu; gelu takes the same.
 */
import type { Tensor, Tensor2D, Variable } from '@tensorflow/tfjs';
import { normal, type Random, uniform } from '../math/random.ts';
import { failure } from '../schema/error.ts';
import { known } from '../schema/known.ts';
import type { Tf } from './engine.ts';
import type { Tensors } from './open-tensors.ts';

const HIDDEN = ['relu', 'tanh', 'gelu'] as const;
export type Activation = (typeof HIDDEN)[number] | 'identity';

export interface Layer {
  readonly weight: Variable; // [n_in, n_out]
  readonly bias: Variable; // [n_out]
  readonly activation: Activation;
}

export interface MlpShape {
  /** Inputs, hidden layers, outputs: [8, 64, 64, 1]. */
  readonly sizes: readonly number[];
  /** Of the hidden layers, relu unless told otherwise; the last is linear. */
  readonly activation?: Exclude<Activation, 'identity'> | undefined;
}

/**
 * Layers with initial weights from the generator that `openTensors` was given a seed for: He's for relu and gelu,
 * Glorot's for tanh and the last; biases of 0.
 */
export function mlp({ tf, random }: Pick<Tensors, 'tf' | 'random'>, shape: MlpShape): Layer[] {
  const { sizes, activation = 'relu' } = known('mlp', shape, ['sizes', 'activation']);
  if (!HIDDEN.includes(activation)) throw noActivation('mlp', activation, HIDDEN);
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

/**
 * Outputs [rows, n_out] of inputs [rows, n_in].
 * @throws where x has not two dimensions
 */
export function mlpForward(tf: Tf, layers: readonly Layer[], x: Tensor): Tensor2D {
  if (x.rank !== 2)
    throw failure({
      subject: 'mlp, inputs',
      wrong: 'not rows of numbers',
      got: `[${x.shape}]`,
      expected: `[rows, ${layers[0]?.weight.shape[0]}]`,
    });
  return tf.tidy(() =>
    layers.reduce(
      (h, { weight, bias, activation }) =>
        activate(tf, activation, tf.add(tf.matMul(h, weight as never), bias)),
      x as Tensor2D,
    ),
  );
}

/** By name, as optimisers and checkpoints take them: `layer0.weight`, `layer0.bias`, …; a prefix as it is: `critic.`. */
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
  if (activation !== 'gelu') throw noActivation('layer', activation, [...HIDDEN, 'identity']);
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));
}

const noActivation = (subject: string, got: unknown, names: readonly string[]) =>
  failure({ subject, wrong: 'no such activation', got: String(got), expected: `one of ${names.join(', ')}` });

function initial(random: Random, activation: Activation, nIn: number, nOut: number): Float32Array {
  const values = new Float32Array(nIn * nOut);
  const he = activation === 'relu' || activation === 'gelu';
  const scale = he ? Math.sqrt(2 / nIn) : Math.sqrt(6 / (nIn + nOut));
  for (let k = 0; k < values.length; k++) values[k] = scale * (he ? normal(random) : 2 * uniform(random) - 1);
  return values;
}
