import type * as TF from '@tensorflow/tfjs';
import { causalAttention } from '../src/tensor/causal-attention.ts';
import type { Tf } from '../src/tensor/engine.ts';
import { rmsNorm } from '../src/tensor/rms-norm.ts';
import { tokenLogProbs } from '../src/tensor/token-log-probs.ts';

/** A two-layer decoder as policies are made: RMS norms, four heads, a causal mask, tied embeddings. */
export interface DecoderShape {
  readonly width: number;
  readonly batch: number;
  readonly length: number;
}
export const VOCABULARY = 512;
export const HEADS = 4;
const LAYERS = 2;

/** Deterministic initial values, the same in every engine: no two libraries draw alike. */
export function initial(size: number, seed: number, scale: number): Float32Array {
  const out = new Float32Array(size);
  for (let k = 0; k < size; k++)
    out[k] = scale * Math.sin(12.9898 * (k % 7919) + 78.233 * seed + 0.37 * Math.floor(k / 7919));
  return out;
}

export const tokens = ({ batch, length }: DecoderShape): Int32Array =>
  Int32Array.from({ length: batch * length }, (_, i) => (i * 7919) % VOCABULARY);

/**
 * The cross-entropy of every token given itself: a task that can be learnt, all that a speed needs. `plain`: written
 * with TensorFlow.js alone, a table of ones and zeros in the place of look-ups and a mask in the place of blocks.
 */
export function decoder(tf: Tf, { width: D, batch: B, length: T }: DecoderShape, plain = false) {
  let seed = 0;
  const weights = (shape: number[], scale = 0.02) => {
    const size = shape.reduce((a, b) => a * b, 1);
    return tf.variable(tf.tensor(initial(size, seed++, scale), shape));
  };
  const embedding = weights([VOCABULARY, D]);
  const position = weights([T, D]);
  const layers = Array.from({ length: LAYERS }, () => ({
    qkv: weights([D, 3 * D]),
    out: weights([D, D]),
    up: weights([D, 4 * D]),
    down: weights([4 * D, D]),
    gain1: tf.variable(tf.ones([D])),
    gain2: tf.variable(tf.ones([D])),
  }));
  const ids = tf.tensor1d(tokens({ width: D, batch: B, length: T }), 'int32');
  const product = (a: TF.Tensor, b: TF.Tensor, turned = false) => tf.matMul(a, b, false, turned);
  const heads = (x: TF.Tensor): TF.Tensor4D =>
    tf.transpose(tf.reshape(x, [B, T, HEADS, D / HEADS]), [0, 2, 1, 3]);
  const own = (): TF.Scalar => {
    let x: TF.Tensor = tf.add(tf.reshape(tf.gather(embedding, ids), [B, T, D]), position);
    for (const l of layers) {
      const qkv = product(tf.reshape(rmsNorm(tf, x, l.gain1), [B * T, D]), l.qkv);
      const [q, k, v] = tf.split(qkv, 3, 1).map(heads) as [TF.Tensor4D, TF.Tensor4D, TF.Tensor4D];
      const mixed = tf.reshape(tf.transpose(causalAttention(tf, q, k, v), [0, 2, 1, 3]), [B * T, D]);
      x = tf.add(x, tf.reshape(product(mixed, l.out), [B, T, D]));
      const hidden = tf.relu(product(tf.reshape(rmsNorm(tf, x, l.gain2), [B * T, D]), l.up));
      x = tf.add(x, tf.reshape(product(hidden, l.down), [B, T, D]));
    }
    const logits = product(tf.reshape(x, [B * T, D]), embedding, true) as TF.Tensor2D;
    return tf.neg(tf.mean(tokenLogProbs(tf, logits, ids)));
  };
  if (!plain) return { loss: own };
  const above = new Float32Array(T * T);
  for (let i = 0; i < T; i++) for (let j = i + 1; j < T; j++) above[i * T + j] = -1e9;
  const mask = tf.tensor2d(above, [T, T]);
  const hot = new Float32Array(B * T * VOCABULARY);
  tokens({ width: D, batch: B, length: T }).forEach((id, k) => {
    hot[k * VOCABULARY + id] = 1;
  });
  const oneHot = tf.tensor2d(hot, [B * T, VOCABULARY]);
  const norm = (x: TF.Tensor, gain: TF.Tensor) =>
    tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), 1e-6))), gain);
  const loss = (): TF.Scalar => {
    let x: TF.Tensor = tf.add(tf.reshape(product(oneHot, embedding), [B, T, D]), position);
    for (const l of layers) {
      const qkv = product(tf.reshape(norm(x, l.gain1), [B * T, D]), l.qkv);
      const [q, k, v] = tf.split(qkv, 3, 1).map(heads) as [TF.Tensor, TF.Tensor, TF.Tensor];
      const attention = tf.softmax(tf.add(tf.mul(product(q, k, true), 1 / Math.sqrt(D / HEADS)), mask));
      const mixed = tf.reshape(tf.transpose(product(attention, v), [0, 2, 1, 3]), [B * T, D]);
      x = tf.add(x, tf.reshape(product(mixed, l.out), [B, T, D]));
      const hidden = tf.relu(product(tf.reshape(norm(x, l.gain2), [B * T, D]), l.up));
      x = tf.add(x, tf.reshape(product(hidden, l.down), [B, T, D]));
    }
    const logits = product(tf.reshape(x, [B * T, D]), embedding, true);
    return tf.neg(tf.mean(tf.sum(tf.mul(oneHot, tf.logSoftmax(logits)), -1)));
  };
  return { loss };
}

export interface MlpShape {
  readonly batch: number;
  readonly inputs: number;
  readonly hidden: number;
}

/** Two hidden layers, one output, squared error. */
export function mlp(tf: Tf, { batch, inputs, hidden }: MlpShape) {
  const weights = (a: number, b: number, seed: number) =>
    tf.variable(tf.tensor2d(initial(a * b, seed, 1 / Math.sqrt(a)), [a, b]));
  const layers = [weights(inputs, hidden, 1), weights(hidden, hidden, 2), weights(hidden, 1, 3)];
  const biases = [hidden, hidden, 1].map((n) => tf.variable(tf.zeros([n])));
  const x = tf.tensor2d(initial(batch * inputs, 4, 1), [batch, inputs]);
  const y = tf.tensor2d(initial(batch, 5, 1), [batch, 1]);
  const loss = (): TF.Scalar => {
    let h: TF.Tensor = x;
    layers.forEach((w, k) => {
      const z = tf.add(tf.matMul(h, w), biases[k]!);
      h = k < 2 ? tf.relu(z) : z;
    });
    return tf.mean(tf.square(tf.sub(h, y)));
  };
  return { loss };
}
