/*
 * Gradients that TensorFlow.js 4.22 lacks, for every backend.
 *
 *   comparisons   0: a mask does not move with what it is made from
 *   Einsum        of one factor: the same sum with that factor and the result changed places
 *   GatherNd      ScatterNd of the gradient
 */
import type * as TF from '@tensorflow/tfjs';

type Tf = typeof TF;

/** Registers what is missing; what is there stays. */
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
  add('Einsum', [], (dy, saved, attrs) => einsum(tf, dy as TF.Tensor, saved, attrs.equation as string), true);
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
