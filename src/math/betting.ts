/*
 * Lower confidence limit of the mean of non-negative variables by betting (Waudby-Smith & Ramdas 2024,
 * "Estimating means of bounded random variables by betting"; for importance weights without an upper
 * limit: Waudby-Smith, Wu, Ramdas, Karampatziakis & Mineiro 2024).
 *
 *   If every E X_k = m, then for 0 ≤ θ s_k < 1 the capital W(m) = mean_θ Π_k (1 + θ s_k (X_k / m − 1))
 *   is a non-negative martingale that starts at 1, so P(W(m) ≥ 1/α) ≤ α (Ville).
 *   Limit = the largest m with W(m) ≥ 1/α; W falls in m, so it is found by bisection.
 *
 * Nothing is assumed of the largest value: heavy tails cost width, never validity. s_k ∈ (0, 1] is the
 * share of the bet on X_k, for means of groups of unequal size.
 *
 * Departures: a mixture over a fixed grid of θ in place of a predictable plug-in, so that the limit does
 * not depend on the order of the data; the capital at the end in place of its running maximum.
 */

/** Bets from a thousandth of the capital to almost all of it, evenly on a logarithmic scale. */
const GRID = Array.from({ length: 25 }, (_, j) => 0.99 * 10 ** ((-3 * (24 - j)) / 24));

/**
 * @param values [K] independent, non-negative, of equal mean
 * @param alpha chance of a limit above the mean
 * @param shares [K] s_k in (0, 1]; absent: 1
 * @returns 0 where nothing better can be said. O(K)
 */
export function lowerMeanLimit(values: ArrayLike<number>, alpha: number, shares?: ArrayLike<number>): number {
  const K = values.length;
  let total = 0;
  let weight = 0;
  for (let k = 0; k < K; k++) {
    const s = shares ? shares[k]! : 1;
    total += s * values[k]!;
    weight += s;
  }
  if (!(total > 0)) return 0;
  const enough = Math.log(GRID.length / alpha);
  const rejects = (m: number): boolean => logCapital(values, shares, m) >= enough;
  // The capital of m = the mean itself is at most 1 for each θ, by Jensen: the limit lies below it.
  let hi = total / weight;
  let lo = hi;
  for (let step = 0; step < 60 && !rejects(lo); step++) lo /= 2;
  if (!rejects(lo)) return 0;
  for (let step = 0; step < 50; step++) {
    const m = (lo + hi) / 2;
    if (rejects(m)) lo = m;
    else hi = m;
  }
  return lo;
}

/** log Σ_θ Π_k (1 + θ s_k (X_k / m − 1)): products of a few factors at a time, so that one logarithm serves many. */
function logCapital(values: ArrayLike<number>, shares: ArrayLike<number> | undefined, m: number): number {
  let largest = Number.NEGATIVE_INFINITY;
  const logs = GRID.map((theta) => {
    let log = 0;
    let product = 1;
    for (let k = 0; k < values.length; k++) {
      product *= 1 + theta * (shares ? shares[k]! : 1) * (values[k]! / m - 1);
      if (product > 1e100 || product < 1e-100) {
        log += Math.log(product);
        product = 1;
      }
    }
    log += Math.log(product);
    largest = Math.max(largest, log);
    return log;
  });
  return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0));
}
