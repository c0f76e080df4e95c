import { failure } from '../schema/error.ts';
import type { Tf } from './engine.ts';

/**
 * To be called where a gradient is written by hand of what was saved on the way there: to TensorFlow.js that is
 * constant, so that a derivative of the derivative would be wrong in silence.
 * @throws while the gradient is itself being differentiated
 */
export function firstOrder(tf: Tf, what: string): void {
  if (tf.engine().state.gradientDepth > 0)
    throw failure({
      subject: `gradient of ${what}`,
      wrong: 'cannot be differentiated again',
      fix: 'Write it with the functions of TensorFlow.js.',
    });
}
