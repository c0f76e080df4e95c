/*
 * The log-probability of the token that was taken, of each row of logits [N, V]:
 *
 *   ℓ_n = z_n,a(n) − m_n − ln Σ_v e^{z_nv − m_n}   m_n = max_v z_nv   dz_nv = dℓ_n (1[v = a(n)] − p_nv)
 *
 * Only the row of a token is looked up: no table of ones and zeros as large as the logits is made or multiplied.
 */
import type * as TF from '@tensorflow/tfjs';
import { failure } from '../schema/error.ts';
import type { Tf } from './engine.ts';

/**
 * ℓ [N] of logits [N, V] and tokens int32 [N]. Cost O(N V).
 *
 * @throws where there is not one token a row
 */
export function tokenLogProbs(tf: Tf, logits: TF.Tensor2D, tokens: TF.Tensor1D): TF.Tensor1D {
  const [N] = logits.shape;
  if (tokens.rank !== 1 || tokens.shape[0] !== N || tokens.dtype !== 'int32')
    throw failure({
      subject: 'log-probabilities of tokens',
      wrong: 'not one token a row of logits',
      got: `${tokens.dtype} [${tokens.shape}] and logits [${logits.shape}]`,
      expected: `int32 [${N}]`,
    });
  return tf.tidy(() => {
    const places = tf.stack([tf.range(0, N, 1, 'int32'), tokens], 1);
    const logProbs = tf.customGrad((...given) => {
      const [z, save] = given as unknown as [TF.Tensor2D, TF.GradSaveFunc];
      const shifted = tf.sub(z, tf.max(z, 1, true)) as TF.Tensor2D;
      const log = tf.log(tf.sum(tf.exp(shifted), 1)) as TF.Tensor1D;
      const own = tf.sub(tf.gatherND(shifted, places), log) as TF.Tensor1D;
      save([shifted, log, own, places]);
      const gradFunc = (dy: TF.Tensor, saved: TF.Tensor[]) => {
        const [shifted, log, own, places] = saved as [TF.Tensor2D, TF.Tensor1D, TF.Tensor1D, TF.Tensor2D];
        const p = tf.exp(tf.sub(shifted, tf.reshape(log, [N, 1])));
        const dz = tf.mul(p, tf.reshape(tf.neg(dy), [N, 1]));
        // Where the token is, the two terms are put together before they are large: 1 − p keeps its digits as −(e^ℓ − 1).
        return tf.tensorScatterUpdate(dz, places, tf.neg(tf.mul(dy, tf.expm1(own))));
      };
      return { value: own, gradFunc };
    });
    return logProbs(logits) as TF.Tensor1D;
  });
}
