/*
 * Gradients that TensorFlow.js 4.22 lacks, or writes with a tensor of ones as large as the argument, for every backend.
 *
 *   comparisons   0: a mask does not move with what it is made from
 *   Einsum        of one factor: the same sum with that factor and the result changed places
 *   GatherNd      ScatterNd of the gradient
 *   Sum, Mean     the gradient (over n) repeated along the axes, without the ones it is multiplied by there
 */
import type * as TF from '@tensorflow/tfjs';

type Tf = typeof TF;

/** Registers what is missing and the two that are rewritten; what else is there stays. */
export function fillGradients(tf: Tf): void {
  const add = (kernelName: string, inputsToSave: string[], gradFunc: TF.GradFunc, saveAllInputs = false) => {
    if (tf.getGradient(kernelName) === undefined)
      tf.registerGradient({ kernelName, inputsToSave, saveAllInputs, gradFunc });
  };
  for (const name of ['Less', 'LessEqual', 'Greater', 'Equal', 'NotEqual'])
    add(name, ['a', 'b'], (_dy, saved) => {
      const [a, b] = saved as [TF.Tensor, TF.Tensor];
      return { a: () => tf.zerosLike(a), b: () => tf.zerosLike(b) };
    });
  add('GatherNd', ['params', 'indices'], (dy, saved) => {
    const [params, indices] = saved as [TF.Tensor, TF.Tensor];
    return {
      params: () => tf.scatterND(indices, dy as TF.Tensor, params.shape),
      indices: () => tf.zerosLike(indices),
    };
  });
  const along = (kernelName: string, share: (n: number) => number): void => {
    const gradFunc: TF.GradFunc = (dy, saved, attrs) => {
      const { shape, size } = saved[0]!;
      const axes = tf.util.parseAxisParam((attrs as { axis: number | number[] }).axis, shape);
      const kept = shape.map((d, k) => (axes.includes(k) ? 1 : d));
      const each = share(size / (dy as TF.Tensor).size);
      const own = each === 1 ? (dy as TF.Tensor) : tf.mul(dy as TF.Tensor, each);
      return { x: () => spread(tf, tf.reshape(own, kept), shape) };
    };
    tf.registerGradient({ kernelName, inputsToSave: ['x'], gradFunc });
  };
  along('Sum', () => 1);
  along('Mean', (n) => 1 / n);
  add('Einsum', [], (dy, saved, attrs) => einsum(tf, dy as TF.Tensor, saved, attrs.equation as string), true);
}

/** Repeated along the dimensions of size one; its own gradient is the sum along them, not a slice for each repetition. */
function spread(tf: Tf, x: TF.Tensor, shape: readonly number[]): TF.Tensor {
  const axes = shape.flatMap((d, k) => (x.shape[k] === d ? [] : [k]));
  if (axes.length === 0) return x;
  if (shape.includes(0)) return tf.zeros([...shape]);
  const own = tf.customGrad((given) => ({
    value: tf.broadcastTo(given as TF.Tensor, [...shape]),
    gradFunc: (dy: TF.Tensor) => tf.sum(dy, axes, true),
  }));
  return own(x);
}

/** Indices of one factor that neither the result nor another factor has were summed alone: spread again. */
function einsum(tf: Tf, dy: TF.Tensor, factors: readonly TF.Tensor[], equation: string) {
  const [left, result] = equation.replace(/\s/g, '').split('->') as [string, string];
  const names = left.split(',');
  const of = (k: number) => (): TF.Tensor => {
    const own = names[k]!;
    const others = names.filter((_, j) => j !== k);
    const known = new Set([result, ...others].join(''));
    const kept = [...own].filter((d) => known.has(d)).join('');
    const parts = [dy, ...factors.filter((_, j) => j !== k)];
    const found = tf.einsum(`${[result, ...others].join(',')}->${kept}`, ...parts);
    if (kept === own) return found;
    const shape = factors[k]!.shape;
    const wide = shape.map((d, at) => (kept.includes(own[at]!) ? d : 1));
    return tf.broadcastTo(tf.reshape(found, wide), shape);
  };
  return Object.fromEntries(names.map((_, k) => [k, of(k)]));
}
