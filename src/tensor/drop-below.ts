import type * as TF from '@tensorflow/tfjs';
import type { Tf } from './engine.ts';

/**
 * x where it is above `least`, else 0; of the shape of x, float32. One pass where the backend has a kernel for it.
 *
 * What a softmax leaves of the unlikely, down to 1e-45, is slow out of all proportion: below 1.2e-38 a processor
 * computes by microcode, and products of what is a little above fall below.
 */
export function dropBelow<T extends TF.Tensor>(tf: Tf, x: T, least: number): T {
  if (tf.getKernel(KERNEL, tf.getBackend()) !== undefined)
    return tf.engine().runKernel(KERNEL, { x } as never, { alpha: least }) as T;
  return tf.mul(x, tf.cast(tf.greater(x, least), 'float32'));
}

const KERNEL = 'ThresholdedRelu';
