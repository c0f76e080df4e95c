/*
 * Attention of each place to itself and what came before it (Vaswani et al., "Attention Is All You Need", NeurIPS 2017,
 * eq. 1, masked as in 3.2.3), head by head:
 *
 *   S = c Q Kᵀ   P = softmax of S over the places j ≤ i   O = P V
 *
 * Gradients with the identity of Dao et al., "FlashAttention" (NeurIPS 2022), appendix B.2, that spares a pass over P:
 *
 *   dV = Pᵀ dO   dP = dO Vᵀ   D_i = Σ_d dO_id O_id   dS = P ∘ (dP − D)   dQ = c dS K   dK = c dSᵀ Q
 *
 * Queries are taken in blocks, each beside the keys up to its end only: of the T² pairs, half plus T · block / 2 are
 * computed, and only the last block of keys is masked. Cost O(B H T² d) operations; P, about B H T² / 2 numbers, is kept
 * for the gradients.
 *
 * Departures: from FlashAttention, P is kept, not computed again, and blocks are graph operations, not tiles of a cache;
 * from the equations, P is max(P − 1e-30, 0). A softmax leaves numbers down to 1e-45 of the unlikely, and below 1.2e-38,
 * where products of them fall soon, a processor computes by microcode: a step at width 512 took 660 ms in place of 480.
 */
import type * as TF from '@tensorflow/tfjs';
import { failure } from '../schema/error.ts';
import type { Tf } from './engine.ts';
import { firstOrder } from './first-order.ts';

type Tensor4D = TF.Tensor4D;

/** Blocks are at least this long: shorter ones cost more operations than they spare. */
const SHORTEST = 128;
/** And at most this many. */
const MOST = 6;
/** Taken off every weight: far less than a float32 sum of weights of 1 can hold. What is not a number stays so. */
const LEAST = 1e-30;
/** Far below any score: e to it is 0, and no infinity is taken from another. */
const NEVER = -1e30;

/**
 * O [B, H, T, d] of queries, keys and values [B, H, T, d], with c = 1/√d; as many heads of keys as of queries.
 *
 * @throws where the shapes differ, and on second derivatives
 */
export function causalAttention(tf: Tf, q: Tensor4D, k: Tensor4D, v: Tensor4D): Tensor4D {
  if (q.rank !== 4)
    throw failure({
      subject: 'causal attention, queries',
      wrong: 'not sequences, heads, places and numbers',
      got: `[${q.shape}]`,
      expected: '[B, H, T, d]',
    });
  for (const [name, x] of Object.entries({ keys: k, values: v }))
    if (x.shape.join() !== q.shape.join())
      throw failure({
        subject: `causal attention, ${name}`,
        wrong: 'not the shape of the queries',
        got: `[${x.shape}]`,
        expected: `[${q.shape}]`,
      });
  if (q.size === 0) return tf.addN([q, k, v]);
  const [B, H, T, d] = q.shape;
  const c = 1 / Math.sqrt(d);
  const length = Math.max(SHORTEST, Math.ceil(T / MOST));
  const blocks = Array.from({ length: Math.ceil(T / length) }, (_, k) => ({
    from: k * length,
    to: Math.min(T, (k + 1) * length),
  }));
  const rows = (x: Tensor4D, from: number, to: number): Tensor4D =>
    to - from === T ? x : tf.slice(x, [0, 0, from, 0], [B, H, to - from, x.shape[3]]);
  const joined = (parts: Tensor4D[], axis: number): Tensor4D =>
    parts.length === 1 ? parts[0]! : tf.concat(parts, axis);
  /** A sum over the rows before, and a part that has more rows. */
  const added = (sum: Tensor4D | null, part: Tensor4D): Tensor4D =>
    sum === null
      ? part
      : tf.add(
          part,
          tf.pad(sum, [
            [0, 0],
            [0, 0],
            [0, part.shape[2] - sum.shape[2]],
            [0, 0],
          ]),
        );

  const attend = tf.customGrad((...given) => {
    const [q, k, v, save] = given as unknown as [Tensor4D, Tensor4D, Tensor4D, TF.GradSaveFunc];
    const weights: Tensor4D[] = [];
    const parts = blocks.map(({ from, to }) => {
      const scores = tf.mul(tf.matMul(rows(q, from, to), rows(k, 0, to), false, true), c);
      const p: Tensor4D = tf.relu(tf.sub(tf.softmax(tf.add(scores, later(tf, from, to))), LEAST));
      weights.push(p);
      return tf.matMul(p, rows(v, 0, to)) as Tensor4D;
    });
    const o = joined(parts, 2);
    save([q, k, v, o, ...weights]);
    const gradFunc = (dy: TF.Tensor, saved: TF.Tensor[]) => {
      firstOrder(tf, 'causal attention');
      const dO = dy as Tensor4D;
      const [q, k, v, o, ...weights] = saved as Tensor4D[] as [Tensor4D, Tensor4D, Tensor4D, Tensor4D];
      const D = tf.sum(tf.mul(dO, o), -1, true) as Tensor4D;
      // dP − D in one product: [dO −D] [V 1]ᵀ
      const [left, right] = [joined([dO, tf.neg(D)], 3), joined([v, tf.fill([B, H, T, 1], 1)], 3)];
      const dq: Tensor4D[] = [];
      let [dk, dv]: [Tensor4D | null, Tensor4D | null] = [null, null];
      blocks.forEach(({ from, to }, b) => {
        const p = (weights as Tensor4D[])[b]!;
        dv = added(dv, tf.matMul(p, rows(dO, from, to), true));
        const dS: Tensor4D = tf.mul(p, tf.matMul(rows(left, from, to), rows(right, 0, to), false, true));
        dq.push(tf.mul(tf.matMul(dS, rows(k, 0, to)), c));
        dk = added(dk, tf.mul(tf.matMul(dS, rows(q, from, to), true), c));
      });
      return [joined(dq, 2), dk!, dv!];
    };
    return { value: o, gradFunc };
  });
  return tf.tidy(() => attend(q, k, v)) as Tensor4D;
}

/** What is added to the scores of rows from…to at the places up to `to`: 0 up to the row's own, NEVER after it. */
function later(tf: Tf, from: number, to: number): TF.Tensor2D {
  const n = to - from;
  const square = new Float32Array(n * n);
  for (let i = 0; i < n; i++) square.fill(NEVER, i * n + i + 1, (i + 1) * n);
  return tf.pad(tf.tensor2d(square, [n, n]), [
    [0, 0],
    [from, 0],
  ]);
}
