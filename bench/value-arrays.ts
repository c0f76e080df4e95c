import { random, uniform } from '../src/math/random.ts';

/** Ragged episodes with everything an off-policy estimate reads, as files of raw numbers hold them. */
export interface ValueArrays {
  readonly offsets: Int32Array; // [n + 1]
  readonly behaviour: Float64Array; // [turns] log b
  readonly target: Float64Array; // [turns] log π
  readonly rewards: Float64Array;
  readonly q: Float64Array; // Q̂ at the logged action
  readonly v: Float64Array; // V̂ under the target
  readonly task: Int32Array; // [n]
  readonly tasks: number;
}

const MEAN = 20;
const LONGEST = 200;

/**
 * Lengths geometric with mean 20 and at most 200, or 20 each; two actions, log-ratios that drift little; a late
 * reward.
 */
export function valueArrays(episodes: number, seed: number, lengths: 'ragged' | 'equal'): ValueArrays {
  const rng = random(seed, 'value bench');
  const offsets = new Int32Array(episodes + 1);
  for (let i = 0; i < episodes; i++) {
    const drawn = 1 + Math.floor(Math.log1p(-uniform(rng)) / Math.log1p(-1 / MEAN));
    const length = lengths === 'equal' ? MEAN : Math.min(LONGEST, drawn);
    offsets[i + 1] = offsets[i]! + length;
  }
  const turns = offsets[episodes]!;
  const out = {
    offsets,
    behaviour: new Float64Array(turns),
    target: new Float64Array(turns),
    rewards: new Float64Array(turns),
    q: new Float64Array(turns),
    v: new Float64Array(turns),
    task: new Int32Array(episodes),
    tasks: Math.max(2, Math.floor(episodes / 25)),
  };
  for (let i = 0; i < episodes; i++) {
    out.task[i] = i % out.tasks;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) {
      const b = 0.2 + 0.6 * uniform(rng);
      const pi = b + 0.1 * (uniform(rng) - 0.5);
      const taken = uniform(rng) < b;
      out.behaviour[k] = Math.log(taken ? b : 1 - b);
      out.target[k] = Math.log(taken ? pi : 1 - pi);
      out.rewards[k] = uniform(rng) < 0.2 ? (taken ? 0.1 : -0.05) : 0;
      out.v[k] = 0.3 + 0.1 * uniform(rng);
      out.q[k] = out.v[k]! + (taken ? 0.05 : -0.05);
    }
    const last = offsets[i + 1]! - 1;
    out.rewards[last] = out.rewards[last]! + (uniform(rng) < 0.4 ? 1 : 0);
  }
  return out;
}
