import { permutation, random } from '../math/random.ts';
import type { CriticRows } from './critic-rows.ts';

/**
 * Returns with nothing left to predict, [N, B] by episode: in each placebo run the outcomes of whole
 * tasks change places within their fold, and those of a task's episodes among themselves. A fold keeps
 * its outcomes, so the constant predictor is what it was and nothing leaks from fold to fold; outcomes
 * of one task stay together, so that they are as alike as before. Uniform over the permutations, with
 * those that leave a task in place among them.
 */
export function shuffledReturns(r: CriticRows, runs: number, seed: number): Float64Array {
  const blocks = Array.from({ length: r.folds }, (): number[][] => []);
  for (let i = 0; i < r.episodes.length; i++) {
    const of = blocks[r.foldOfEpisode[i]!]!;
    if (i > 0 && r.cluster[i] === r.cluster[i - 1]) of.at(-1)!.push(i);
    else of.push([i]);
  }
  const out = new Float64Array(r.episodes.length * runs);
  for (let b = 0; b < runs; b++) {
    const rng = random(seed, `placebo ${b}`);
    for (const tasks of blocks) {
      const from: number[] = [];
      for (const k of permutation(rng, tasks.length)) {
        const task = tasks[k]!;
        for (const i of permutation(rng, task.length)) from.push(task[i]!);
      }
      let at = 0;
      for (const task of tasks) for (const i of task) out[i * runs + b] = r.returns[from[at++]!]!;
    }
  }
  return out;
}
