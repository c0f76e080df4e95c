import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import type { JumpableRandomGenerator } from 'pure-rand/types/JumpableRandomGenerator';

/** A seeded stream of random numbers (xoroshiro128+); drawing from it moves it on. */
export type Random = JumpableRandomGenerator;

/**
 * The stream named by (seed, stream): the same pair gives the same numbers on every machine.
 * A task, a replicate or a worker takes its own stream, by number or by name, so that the order in
 * which they draw does not matter. `jump` on a stream skips 2⁶⁴ draws.
 *
 * pure-rand's own seeding hands the seed to the state as it is (its first output is ~seed), so that
 * neighbouring seeds start alike; here every word of the state is a hash of all of (seed, stream).
 */
export function random(seed: number, stream: number | string = 0): Random {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`seed must be a whole number, got ${seed}`);
  const words = typeof stream === 'string' ? textWords(stream) : numberWords(stream);
  let h = 0x5eed_1e55;
  for (const w of [...numberWords(seed), words.length, ...words]) h = mix(h ^ w, 0x9e37_79b9);
  const state = [0, 0, 0, 0];
  // A second pass from another constant: four words of 32 bits out of two independent 32-bit chains.
  let g = 0x0ddb_1a5e;
  for (const w of [...words, words.length, ...numberWords(seed)]) g = mix(g ^ w, 0x85eb_ca6b);
  for (let i = 0; i < 4; i++) state[i] = mix((i & 1 ? g : h) + Math.imul(i + 1, 0x6d2b_79f5), g ^ (h << 1));
  if ((state[0]! | state[1]! | state[2]! | state[3]!) === 0) state[0] = 1; // the one forbidden state
  const rng = xoroshiro128plusFromState(state);
  for (let i = 0; i < 8; i++) rng.next();
  return rng;
}

/** Uniform on [0, 1), a multiple of 2⁻⁵³. */
export function uniform(rng: Random): number {
  return uniformFloat64(rng);
}

/** A whole number, uniform on 0 … n − 1. */
export function integer(rng: Random, n: number): number {
  if (!(Number.isSafeInteger(n) && n > 0))
    throw new RangeError(`n must be a positive whole number, got ${n}`);
  return uniformInt(rng, 0, n - 1);
}

/** Standard normal, by Box and Muller (1958): √(−2 log u₁) cos 2πu₂, with u₁ on (0, 1]. */
export function normal(rng: Random): number {
  const u1 = 1 - uniform(rng);
  return Math.sqrt(-2 * Math.log(u1)) * Math.cos(2 * Math.PI * uniform(rng));
}

/** An index, drawn with the given probabilities [n]; they need not sum to 1. An index of weight 0 is never drawn. */
export function choice(rng: Random, probabilities: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < probabilities.length; i++) {
    if (!(probabilities[i]! >= 0))
      throw new RangeError(`a probability must be at least 0, got ${probabilities[i]}`);
    total += probabilities[i]!;
  }
  if (!(total > 0 && total < Infinity))
    throw new RangeError(`probabilities must have a positive sum, got ${total}`);
  let u = uniform(rng) * total;
  let last = -1;
  for (let i = 0; i < probabilities.length; i++) {
    const p = probabilities[i]!;
    if (p === 0) continue;
    if (u < p) return i;
    u -= p;
    last = i;
  }
  return last; // rounding left u a hair above the last weight
}

/** 0 … n − 1 in random order (Fisher and Yates), [n]. */
export function permutation(rng: Random, n: number): Int32Array {
  const order = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    const j = uniformInt(rng, 0, i);
    order[i] = order[j]!;
    order[j] = i;
  }
  return order;
}

/** The finaliser of MurmurHash3: every bit of `h` moves about half of the bits of the result. */
function mix(h: number, add: number): number {
  let x = (h + add) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return x ^ (x >>> 16);
}

function numberWords(n: number): number[] {
  if (!Number.isSafeInteger(n)) throw new RangeError(`stream must be a whole number or a name, got ${n}`);
  return [n | 0, Math.floor(n / 4_294_967_296) | 0];
}

/** Two words and one for every character, so that names never share a prefix's stream. */
function textWords(name: string): number[] {
  const words = [0x7e47, name.length];
  for (let i = 0; i < name.length; i++) words.push(name.charCodeAt(i));
  return words;
}
