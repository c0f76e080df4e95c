/*
 * The log-probability of the token a that was taken, of each row of logits z [N, V]. With L the logarithm of the sum of
 * all others and γ = L − z_a, how far they are ahead of it:
 *
 *   L = ln Σ_{v≠a} e^{z_v}   ℓ = ln p_a = −ln(1 + e^γ)   1 − p_a = σ(γ)   p_v = e^{z_v − L} σ(γ)
 *
 *   dz_a = dℓ σ(γ)   dz_v = −dℓ e^{z_v − L} σ(γ)
 *
 * The token against the others, not the token's share of all: a token all but certain keeps the digits of ℓ and of
 * 1 − p, which 1 − e^ℓ has lost in float32 from p = 1 − 1e-7 on. No table of ones and zeros as large as the logits is
 * made or multiplied.
 */
import type * as TF from '@tensorflow/tfjs';
import { failure } from '../schema/error.ts';
import type { Tf } from './engine.ts';
import { firstOrder } from './first-order.ts';

/** In the place of the token among the others: e to it is 0, and where there are no others it is all there is. */
const NEVER = -1e30;

/**
 * ℓ [N] of logits [N, V] and tokens int32 [N]; a logit of −∞ is a token that cannot be taken. Cost O(N V).
 *
 * @throws where there is not one token a row, or a token is not in 0…V − 1; where the tokens are themselves computed
 * the runtime finds out as it runs; and on second derivatives
 */
export function tokenLogProbs(tf: Tf, logits: TF.Tensor2D, tokens: TF.Tensor1D): TF.Tensor1D {
  const [N, V] = logits.shape;
  if (logits.rank !== 2 || tokens.rank !== 1 || tokens.shape[0] !== N || tokens.dtype !== 'int32')
    throw failure({
      subject: 'log-probabilities of tokens',
      wrong: 'not one token a row of logits',
      got: `${tokens.dtype} [${tokens.shape}] and logits [${logits.shape}]`,
      expected: `int32 [${N}]`,
    });
  if (N === 0) return tf.sum(logits, 1);
  checkTokens(tokens, V);
  return tf.tidy(() => {
    const places = tf.stack([tf.range(0, N, 1, 'int32'), tokens], 1);
    const logProbs = tf.customGrad((...given) => {
      const [z, save] = given as unknown as [TF.Tensor2D, TF.GradSaveFunc];
      // z + 0: on its cpu backend TensorFlow.js updates the tensor that it is given, in place.
      const others = tf.tensorScatterUpdate(tf.add(z, 0), places, tf.fill([N], NEVER)) as TF.Tensor2D;
      const most = tf.max(others, 1, true);
      const shares = tf.exp(tf.sub(others, most));
      const all = tf.sum(shares, 1, true);
      // Differences of logits first: L itself is rounded at the size of the logits.
      const ahead = tf.add(
        tf.sub(tf.reshape(most, [N]), tf.gatherND(z, places)),
        tf.log(tf.reshape(all, [N])),
      );
      save([shares, all, ahead, places]);
      const gradFunc = (dy: TF.Tensor, saved: TF.Tensor[]) => {
        firstOrder(tf, 'log-probabilities of tokens');
        const [shares, all, ahead, places] = saved as [TF.Tensor2D, TF.Tensor2D, TF.Tensor1D, TF.Tensor2D];
        // σ(γ) to the last digits far below 0 too, where a sigmoid may be approximated.
        const rest = tf.div(tf.exp(tf.minimum(ahead, 0)), tf.add(tf.exp(tf.neg(tf.abs(ahead))), 1));
        const own = tf.mul(dy, rest);
        const dz = tf.mul(shares, tf.div(tf.reshape(tf.neg(own), [N, 1]), all));
        return tf.tensorScatterUpdate(dz, places, own);
      };
      const value = tf.neg(tf.add(tf.relu(ahead), tf.log1p(tf.exp(tf.neg(tf.abs(ahead))))));
      return { value, gradFunc };
    });
    return logProbs(logits) as TF.Tensor1D;
  });
}

function checkTokens(tokens: TF.Tensor1D, V: number): void {
  let known: ArrayLike<number>;
  try {
    known = tokens.dataSync();
  } catch {
    return; // recorded, not computed
  }
  for (let n = 0; n < known.length; n++)
    if (!(known[n]! >= 0 && known[n]! < V))
      throw failure({
        subject: `log-probabilities of tokens, row ${n}`,
        wrong: 'no such token',
        got: known[n]!,
        expected: `0 to ${V - 1}`,
        fix: 'Leave out the rows that stand for no token, or mask them after giving them a token that there is.',
      });
}
