/*
 * Root mean square normalisation (Zhang & Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019, eq. 4),
 * over the last dimension of n:
 *
 *   r = (mean(x²) + ε)^(−½)   y = x r g
 *
 * and its gradients, written out so that they pass over x as seldom as they can:
 *
 *   dg = Σ_rows dy x r   dx = r (dy g − x r² mean(dy g x))
 *
 * Departure: ε, inside the root as in common implementations; the paper has none. A number above 1e19 has no
 * square in float32, and its row becomes 0, as in common implementations too.
 */
import type * as TF from '@tensorflow/tfjs';
import { failure } from '../schema/error.ts';
import type { Tf } from './engine.ts';
import { firstOrder } from './first-order.ts';

/**
 * y, of the shape of x [..., n], with gains g [n]; ε is 1e-6 unless told otherwise. Cost O(size of x).
 *
 * @throws where there is not one gain for each number of a row, and on second derivatives
 */
export function rmsNorm<T extends TF.Tensor>(tf: Tf, x: T, gain: TF.Tensor, epsilon = 1e-6): T {
  const n = x.shape.at(-1);
  if (x.rank < 1 || gain.rank !== 1 || gain.shape[0] !== n)
    throw failure({
      subject: 'RMS norm, gains',
      wrong: 'not one for each number of a row',
      got: `[${gain.shape}]`,
      expected: `[${n}]`,
    });
  const norm = tf.customGrad((...given) => {
    const [x, gain, save] = given as unknown as [TF.Tensor, TF.Tensor, TF.GradSaveFunc];
    const r = tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon));
    save([x, gain, r]);
    const gradFunc = (dy: TF.Tensor, saved: TF.Tensor[]) => {
      firstOrder(tf, 'an RMS norm');
      const [x, gain, r] = saved as [TF.Tensor, TF.Tensor, TF.Tensor];
      const rows = [-1, n!];
      const xr = tf.mul(x, r);
      const product = tf.mul(dy, xr);
      const dyg = tf.mul(dy, gain);
      const shrink = tf.mean(tf.mul(product, gain), -1, true);
      return [tf.mul(r, tf.sub(dyg, tf.mul(xr, shrink))), tf.sum(tf.reshape(product, rows), 0)];
    };
    return { value: tf.mul(tf.mul(x, r), gain), gradFunc };
  });
  return tf.tidy(() => norm(x, gain)) as T;
}
