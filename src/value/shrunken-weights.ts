import type { EpisodeWeights } from '../weights/episode-weights.ts';

/** log ŵ from log w: −∞ for a weight of 0. */
export type Shrinkage = (logWeight: number) => number;

/**
 * The weights ŵ_t = f(w_t) of every turn and episode, f of the cumulative weight. Every estimator works on
 * the result as on any weights; what it then estimates is biased by what f takes away. O(turns).
 */
export function shrunkenWeights(w: EpisodeWeights, shrink: Shrinkage): EpisodeWeights {
  const { n, offsets, stages } = w;
  const logRatios = new Float64Array(w.logRatios.length);
  const weights = new Float64Array(w.weights.length);
  const logWeight = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let log = 0;
    let before = 0;
    for (let s = offsets[i]!; s < offsets[i + 1]!; s++) {
      log += w.logRatios[s]!;
      const now = shrink(log);
      weights[s] = Math.exp(now);
      // So that a running sum gives log ŵ again; once −∞ no sum comes back, and none is asked to.
      logRatios[s] = now === before ? 0 : now - before;
      before = now;
    }
    logWeight[i] = before;
  }
  return {
    ...w,
    logRatios,
    weights,
    logWeight,
    weight: logWeight.map(Math.exp),
    shift: new Float64Array(stages),
    finalShift: 0,
  };
}
