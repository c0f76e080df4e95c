import type { Scalar, Tensor2D } from '@tensorflow/tfjs';
import { normal, random } from '../../src/math/random.ts';
import { type AdamW, adamw } from '../../src/tensor/adamw.ts';
import { type Layer, mlp, mlpForward, mlpParameters } from '../../src/tensor/mlp.ts';
import type { Tensors } from '../../src/tensor/open-tensors.ts';

/** A small regression problem, the same on every backend: 32 rows, y = sin(x₁) + x₂ x₃. */
export interface Problem {
  readonly layers: Layer[];
  readonly optimiser: AdamW;
  readonly x: Tensor2D;
  readonly y: Tensor2D;
  /** Mean squared error of all rows. */
  loss(): Scalar;
}

export function problem(tensors: Tensors, config: Parameters<typeof adamw>[2] = {}): Problem {
  const { tf } = tensors;
  const rng = random(3, 'rows');
  const rows = Float32Array.from({ length: 32 * 3 }, () => normal(rng));
  const target = Float32Array.from(
    { length: 32 },
    (_, i) => Math.sin(rows[3 * i]!) + rows[3 * i + 1]! * rows[3 * i + 2]!,
  );
  const layers = mlp(tensors, { sizes: [3, 8, 1], activation: 'gelu' });
  const [x, y] = [tf.tensor2d(rows, [32, 3]), tf.tensor2d(target, [32, 1])];
  return {
    layers,
    optimiser: adamw(tensors, mlpParameters(layers), config),
    x,
    y,
    loss: () => tf.mean(tf.square(tf.sub(mlpForward(tf, layers, x), y))),
  };
}

/** The bytes of everything a step changes. */
export async function bytesOf({ parameters, m, v }: AdamW): Promise<Buffer> {
  const all = [parameters, m, v].flatMap((group) => Object.values(group));
  const values = await Promise.all(all.map((variable) => variable.data()));
  return Buffer.concat(values.map((x) => new Uint8Array(x.buffer, x.byteOffset, x.byteLength)));
}
