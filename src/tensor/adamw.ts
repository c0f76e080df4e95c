/*
 * AdamW: Loshchilov & Hutter, "Decoupled Weight Decay Regularization" (ICLR 2019), Algorithm 2, with the order of
 * operations of Kingma & Ba, "Adam" (ICLR 2015), end of section 2. For parameter θ with gradient g at step t:
 *
 *   m ← m + (1 − β₁)(g − m)
 *   v ← v + (1 − β₂)(g² − v)
 *   α_t = α √(1 − β₂ᵗ)/(1 − β₁ᵗ)     ε_t = ε √(1 − β₂ᵗ)
 *   θ ← (1 − α λ) θ − α_t m/(√v + ε_t)
 *
 * which is θ − α [m̂/(√v̂ + ε) + λ θ] with m̂ = m/(1 − β₁ᵗ) and v̂ = v/(1 − β₂ᵗ).
 *
 * Departures from the paper:
 * - The decay is multiplied by the learning rate α, as PyTorch and optax do; in the paper only by the schedule η_t.
 *   The paper's λ is α λ here.
 * - The schedule is the caller's: each step is given its learning rate.
 * - `decayed: matrices` leaves the decay of parameters of rank 0 and 1 (biases, gains) out; the paper decays all.
 * - Gradients are clipped by their norm over all parameters before they reach m and v (`gradient-step.ts`).
 */
import type { Scalar, Tensor, Tensor1D, Variable } from '@tensorflow/tfjs';
import { z } from 'zod';
import { failure } from '../schema/error.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { Tf } from './engine.ts';
import type { Tensors } from './open-tensors.ts';

export const AdamWConfig = z.strictObject({
  learningRate: z
    .number()
    .positive()
    .default(1e-3)
    .describe('Of a step that is given none.')
    .meta({ symbol: 'α' }),
  beta1: z
    .number()
    .min(0)
    .lt(1)
    .default(0.9)
    .describe('What the mean of gradients keeps at each step.')
    .meta({ symbol: 'β₁' }),
  beta2: z
    .number()
    .min(0)
    .lt(1)
    .default(0.999)
    .describe('What the mean of squared gradients keeps at each step.')
    .meta({ symbol: 'β₂' }),
  epsilon: z
    .number()
    .positive()
    .default(1e-8)
    .describe('Added to the root of the mean square.')
    .meta({ symbol: 'ε' }),
  weightDecay: z
    .number()
    .min(0)
    .default(0.01)
    .describe('Of a step, times the learning rate; 0: Adam.')
    .meta({ symbol: 'λ' }),
  decayed: z
    .enum(['all', 'matrices'])
    .default('all')
    .describe('What decays: every parameter, or those of rank 2 and more.'),
  maxNorm: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('Gradients together are scaled down to this norm; null: never.'),
});
export type AdamWConfig = z.infer<typeof AdamWConfig>;

/** Parameters with what the optimiser keeps of them. */
export interface AdamW {
  readonly config: AdamWConfig;
  readonly parameters: Readonly<Record<string, Variable>>;
  readonly m: Readonly<Record<string, Variable>>;
  readonly v: Readonly<Record<string, Variable>>;
  /** Steps taken. */
  step: number;
  /** A step is on its way. */
  busy: boolean;
}

/**
 * An optimiser at step 0 of these parameters, by name. Unless told otherwise: α = 1e-3, β = 0.9 and 0.999, ε = 1e-8,
 * a decoupled weight decay of 0.01 on all parameters (`decayed: 'matrices'`: not on biases and gains), no clipping;
 * `maxNorm` clips by the norm over all gradients together.
 * @throws where a parameter is no trainable float32 variable
 */
export function adamw(
  { tf }: Pick<Tensors, 'tf'>,
  parameters: Readonly<Record<string, Variable>>,
  config: z.input<typeof AdamWConfig> = {},
): AdamW {
  const own = parseConfig(AdamWConfig, config, 'adamw settings');
  const named = Object.entries(parameters);
  if (named.length === 0) throw failure({ subject: 'optimiser', wrong: 'there is no parameter to train' });
  for (const [name, parameter] of named) {
    const isVariable = parameter instanceof tf.Variable;
    if (!isVariable || parameter.dtype !== 'float32' || !parameter.trainable)
      throw failure({
        subject: `parameter ${name}`,
        wrong: 'cannot be trained',
        got: isVariable
          ? `${parameter.dtype}${parameter.trainable ? '' : ', not trainable'}`
          : shownAs(parameter),
        expected: 'a trainable float32 variable, by its name',
        fix: 'mlpParameters gives those of layers; tf.variable makes one.',
      });
  }
  // Written as values, not filled by an operation: the first step then runs the same graph as every other.
  const zeros = () =>
    Object.fromEntries(
      named.map(([name, { shape, size }]) => [
        name,
        tf.tidy(() => tf.variable(tf.tensor(new Float32Array(size), shape, 'float32'), false)),
      ]),
    );
  return { config: own, parameters, m: zeros(), v: zeros(), step: 0, busy: false };
}

const shownAs = (x: unknown): string =>
  x !== null && typeof x === 'object' ? (x.constructor?.name ?? 'an object') : typeof x;

/** Disposes what the optimiser keeps; the parameters are their owner's. */
export function disposeAdamW({ m, v }: AdamW): void {
  for (const variable of [...Object.values(m), ...Object.values(v)]) variable.dispose();
}

/** The numbers of a step. What another step changes is a list of one: such are fed, and another step is no other graph. */
export interface StepScalars {
  /** 1 − β₁ and 1 − β₂ */
  readonly a1: Scalar;
  readonly a2: Scalar;
  /** α_t and ε_t */
  readonly rate: Tensor1D;
  readonly epsilon: Tensor1D;
  /** 1 − α λ; null: no decay */
  readonly keep: Tensor1D | null;
}

/** Of step t = 1, 2, …, in float64 as far as the tensors. */
export function stepScalars(
  tf: Tf,
  { beta1, beta2, epsilon, weightDecay }: AdamWConfig,
  t: number,
  learningRate: number,
): StepScalars {
  const root = Math.sqrt(1 - beta2 ** t);
  return {
    a1: tf.scalar(1 - beta1),
    a2: tf.scalar(1 - beta2),
    rate: tf.tensor1d([(learningRate * root) / (1 - beta1 ** t)]),
    epsilon: tf.tensor1d([epsilon * root]),
    keep: weightDecay === 0 ? null : tf.tensor1d([1 - learningRate * weightDecay]),
  };
}

/** θ, m and v after a step; nothing is changed in place. */
export function adamwUpdate<T extends Tensor>(
  tf: Tf,
  { theta, m, v, g, decays }: { theta: T; m: T; v: T; g: T; decays: boolean },
  { a1, a2, rate, epsilon, keep }: StepScalars,
): { theta: T; m: T; v: T } {
  const mNext: T = tf.add(m, tf.mul(a1, tf.sub(g, m)));
  const vNext: T = tf.add(v, tf.mul(a2, tf.sub(tf.square(g), v)));
  const kept: T = decays && keep !== null ? tf.mul(keep, theta) : theta;
  const move = tf.div(mNext, tf.add(tf.sqrt(vNext), epsilon));
  const next: T = tf.sub(kept, tf.mul(rate, move));
  return { theta: theta.rank === 0 ? (tf.reshape(next, []) as T) : next, m: mNext, v: vNext };
}
