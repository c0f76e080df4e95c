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
 * Departure from FlashAttention: P is kept, not computed again; blocks are graph operations, not tiles of a cache.
 */
import type * as TF from '@tensorflow/tfjs';
import { failure } from '../schema/error.ts';
import type { Tf } from './engine.ts';

type Tensor4D = TF.Tensor4D;

/** Blocks are at least this long: shorter ones cost more operations than they spare. */
const SHORTEST = 128;
/** And at most this many. */
const MOST = 6;
/** Far below any score: e to it is 0, and no infinity is taken from another. */
const NEVER = -1e30;

/**
 * O [B, H, T, d] of queries, keys and values [B, H, T, d].
 *
 * @throws where the shapes differ
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
  const [B, H, T, d] = q.shape;
  const c = 1 / Math.sqrt(d);
  const length = Math.max(SHORTEST, Math.ceil(T / MOST));
  const blocks = Array.from({ length: Math.ceil(T / length) }, (_, k) => ({
    from: k * length,
    to: Math.min(T, (k + 1) * length),
  }));
  const rows = (x: Tensor4D, from: number, to: number): Tensor4D =>
    to - from === T ? x : tf.slice(x, [0, 0, from, 0], [B, H, to - from, d]);
  const added = (parts: Tensor4D[]): Tensor4D => (parts.length === 1 ? parts[0]! : tf.addN(parts));
  /** Rows 0 to `to` of a sum whose other rows are 0. */
  const wide = (x: Tensor4D, to: number): Tensor4D =>
    to === T
      ? x
      : tf.pad(x, [
          [0, 0],
          [0, 0],
          [0, T - to],
          [0, 0],
        ]);

  const attend = tf.customGrad((...given) => {
    const [q, k, v, save] = given as unknown as [Tensor4D, Tensor4D, Tensor4D, TF.GradSaveFunc];
    const weights: Tensor4D[] = [];
    const parts = blocks.map(({ from, to }) => {
      const scores = tf.mul(tf.matMul(rows(q, from, to), rows(k, 0, to), false, true), c);
      const p: Tensor4D = tf.softmax(tf.add(scores, later(tf, from, to)));
      weights.push(p);
      return tf.matMul(p, rows(v, 0, to)) as Tensor4D;
    });
    const o: Tensor4D = parts.length === 1 ? parts[0]! : tf.concat(parts, 2);
    save([q, k, v, o, ...weights]);
    const gradFunc = (dy: TF.Tensor, saved: TF.Tensor[]) => {
      const dO = dy as Tensor4D;
      const [q, k, v, o, ...weights] = saved as Tensor4D[] as [Tensor4D, Tensor4D, Tensor4D, Tensor4D];
      const D = tf.sum(tf.mul(dO, o), -1, true) as Tensor4D;
      const [dq, dk, dv]: [Tensor4D[], Tensor4D[], Tensor4D[]] = [[], [], []];
      blocks.forEach(({ from, to }, b) => {
        const p = (weights as Tensor4D[])[b]!;
        const own = rows(dO, from, to);
        dv.push(wide(tf.matMul(p, own, true), to));
        const dP = tf.matMul(own, rows(v, 0, to), false, true);
        const dS: Tensor4D = tf.mul(p, tf.sub(dP, tf.slice(D, [0, 0, from, 0], [B, H, to - from, 1])));
        dq.push(tf.mul(tf.matMul(dS, rows(k, 0, to)), c));
        dk.push(wide(tf.mul(tf.matMul(dS, rows(q, from, to), true), c), to));
      });
      return [dq.length === 1 ? dq[0]! : tf.concat(dq, 2), added(dk), added(dv)];
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
