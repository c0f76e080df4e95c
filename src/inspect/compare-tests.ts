/*
 * Three tests of "A and B are the same" over the differences d_c of K tasks.
 *
 * Sign test: wins ~ Binomial(wins + losses, ½); p = min(1, 2 P(X ≤ min(wins, losses))).
 * Wilcoxon (1945) signed ranks: W = Σ rank|d_c| over d_c > 0, zeros dropped, equal |d| share the mean rank.
 *   Up to 200 differences the 2^K sign patterns are counted exactly, by dynamic programming over doubled ranks;
 *   beyond, W is normal with variance Σ rank² / 4 (which holds the tie correction), continuity ½.
 * Sign-flip (Fisher 1935): the share of sign patterns with |Σ ±d_c| ≥ |Σ d_c|. All patterns up to 16 nonzero
 *   differences; then 9,999 random ones and the observed (Phipson and Smyth 2010), so that p is never 0;
 *   beyond 10,000 differences the sum is normal with variance Σ d².
 */
import { binomialCdf, normalCdf } from '../math/distributions.ts';
import { random } from '../math/random.ts';
import { sum, sumOf } from '../math/sum.ts';
import type { TaskTests } from '../schema/compare.ts';

const EXACT_RANKS = 200;
const EXACT_FLIPS = 16;
const FLIPS = 9_999;
const MOST_FLIPPED = 10_000;
/** |d| closer than this, relative to the largest, are equal ranks. */
const TIE = 1e-12;

/** All three. `toward` is +1 where higher is better and −1 where lower is; it only names wins and losses. */
export function taskTests(d: Float64Array, toward: 1 | -1, seed: number): TaskTests {
  let up = 0;
  let down = 0;
  for (const x of d) {
    if (x > 0) up++;
    else if (x < 0) down++;
  }
  const [wins, losses] = toward === 1 ? [up, down] : [down, up];
  const nonzero = d.filter((x) => x !== 0);
  return {
    wins,
    ties: d.length - wins - losses,
    losses,
    sign: signTest(wins, losses),
    wilcoxon: signedRanks(nonzero),
    signFlip: signFlip(nonzero, seed),
  };
}

/** Exact two-sided p; null without a win or a loss. */
export function signTest(wins: number, losses: number): number | null {
  if (wins + losses === 0) return null;
  return Math.min(1, 2 * binomialCdf(Math.min(wins, losses), wins + losses, 0.5));
}

/** Of differences that are not 0. O(K log K), and O(K³) up to 200 of them. */
export function signedRanks(d: Float64Array): TaskTests['wilcoxon'] {
  const exact = d.length <= EXACT_RANKS;
  const method = exact ? 'exact, mid-ranks' : 'normal, mid-ranks, tie correction, continuity ½';
  if (d.length === 0) return { p: null, method };
  const ranks = doubledRanks(d);
  let plus = 0; // 2W
  let total = 0;
  for (let i = 0; i < d.length; i++) {
    total += ranks[i]!;
    if (d[i]! > 0) plus += ranks[i]!;
  }
  const least = Math.min(plus, total - plus);
  if (!exact) {
    const sd = Math.sqrt(ranks.reduce((s, r) => s + r * r, 0)) / 2;
    // 2W is centred at total / 2; ½ of W is 1 of 2W.
    return { p: Math.min(1, 2 * normalCdf((least - total / 2 + 1) / sd)), method };
  }
  const chance = new Float64Array(total + 1); // P(2W = s) under equal signs
  chance[0] = 1;
  let reach = 0;
  for (const r of ranks) {
    reach += r;
    for (let s = reach; s >= 0; s--) chance[s] = (chance[s]! + (s >= r ? chance[s - r]! : 0)) / 2;
  }
  return { p: Math.min(1, 2 * sum(chance.subarray(0, least + 1))), method };
}

/** Twice the mid-ranks of |d|: whole numbers. */
function doubledRanks(d: Float64Array): Int32Array {
  const order = Int32Array.from(d, (_, i) => i).sort((i, j) => Math.abs(d[i]!) - Math.abs(d[j]!));
  const tie = TIE * Math.abs(d[order.at(-1)!]!);
  const ranks = new Int32Array(d.length);
  for (let i = 0; i < order.length; ) {
    let j = i + 1;
    while (j < order.length && Math.abs(d[order[j]!]!) - Math.abs(d[order[j - 1]!]!) <= tie) j++;
    for (let k = i; k < j; k++) ranks[order[k]!] = i + j + 1; // 2 · ((i + 1) + j) / 2
    i = j;
  }
  return ranks;
}

/** Of differences that are not 0 (zeros have no sign to flip). At most 10⁸ flips. */
export function signFlip(d: Float64Array, seed: number): TaskTests['signFlip'] {
  const K = d.length;
  if (K > MOST_FLIPPED) {
    const z = Math.abs(sum(d)) / Math.sqrt(sumOf(K, (i) => d[i]! ** 2));
    return { p: 2 * normalCdf(-z), method: 'normal' };
  }
  const method =
    K <= EXACT_FLIPS
      ? 'exact, all sign patterns'
      : `${FLIPS.toLocaleString('en-US')} random sign patterns, seed ${seed}`;
  if (K === 0) return { p: null, method };
  // Sums that differ by rounding alone are as extreme as the observed one.
  const limit = Math.abs(sum(d)) - TIE * sumOf(K, (i) => Math.abs(d[i]!));
  let extreme = 0;
  if (K <= EXACT_FLIPS) {
    const patterns = 2 ** K;
    for (let bits = 0; bits < patterns; bits++) if (Math.abs(flipped(d, () => bits)) >= limit) extreme++;
    return { p: extreme / patterns, method };
  }
  const rng = random(seed, 'sign-flip');
  const draw = (): number => rng.next();
  for (let k = 0; k < FLIPS; k++) if (Math.abs(flipped(d, draw)) >= limit) extreme++;
  return { p: (extreme + 1) / (FLIPS + 1), method };
}

/** Σ ±d, each sign one bit of `bits()`, which is asked every 32 differences. */
function flipped(d: Float64Array, bits: () => number): number {
  let s = 0;
  let word = 0;
  for (let i = 0; i < d.length; i++) {
    if ((i & 31) === 0) word = bits();
    s += (word >>> (i & 31)) & 1 ? -d[i]! : d[i]!;
  }
  return s;
}
