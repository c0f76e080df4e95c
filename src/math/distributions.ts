import { betaI, gammaP, gammaQ, logGamma } from './special.ts';

/** Φ(z). */
export function normalCdf(z: number): number {
  const tail = 0.5 * gammaQ(0.5, (z * z) / 2);
  return z < 0 ? tail : 1 - tail;
}

/** Φ⁻¹(p), 0 ≤ p ≤ 1. */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) return Number.NaN;
  if (p === 0) return -Infinity;
  if (p === 1) return Infinity;
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p === 0.5) return 0;
  // Start from the leading term of the tail, then Newton on ln Φ, which is concave: it converges from there.
  let z = -Math.sqrt(-2 * Math.log(p));
  for (let k = 0; k < 60; k++) {
    const cdf = normalCdf(z);
    const density = Math.exp(-(z * z) / 2) / Math.sqrt(2 * Math.PI);
    const step = (cdf / density) * Math.log(cdf / p);
    z -= step;
    if (Math.abs(step) <= 1e-15 * Math.abs(z)) break;
  }
  return z;
}

/** P(T ≤ t) of Student's t with any real df > 0; df = ∞ is the normal. */
export function studentCdf(t: number, df: number): number {
  if (df === Infinity) return normalCdf(t);
  if (t === 0) return 0.5;
  const square = t * t;
  // Of the two equal forms take the one whose argument is not close to 1.
  const tail =
    square > df
      ? 0.5 * betaI(df / (df + square), df / 2, 0.5)
      : 0.5 * (1 - betaI(square / (df + square), 0.5, df / 2));
  return t < 0 ? tail : 1 - tail;
}

/** The quantile of Student's t: a 95 % interval takes p = .975. */
export function studentQuantile(p: number, df: number): number {
  if (!(p >= 0 && p <= 1) || !(df > 0)) return Number.NaN;
  if (df === Infinity) return normalQuantile(p);
  if (p > 0.5) return -studentQuantile(1 - p, df);
  if (p === 0.5) return 0;
  if (p === 0) return -Infinity;
  let lo = -1;
  while (studentCdf(lo, df) > p) lo *= 2;
  let hi = 0;
  let t = lo;
  const scale = Math.exp(logGamma((df + 1) / 2) - logGamma(df / 2)) / Math.sqrt(df * Math.PI);
  // Newton, held inside a bracket that shrinks.
  for (let k = 0; k < 200 && hi - lo > 1e-15 * Math.abs(lo); k++) {
    const excess = studentCdf(t, df) - p;
    if (excess > 0) hi = t;
    else lo = t;
    const density = scale * (1 + (t * t) / df) ** (-(df + 1) / 2);
    const newton = t - excess / density;
    const next = newton > lo && newton < hi ? newton : (lo + hi) / 2;
    if (Math.abs(next - t) <= 1e-15 * Math.abs(t)) return next;
    t = next;
  }
  return t;
}

/** P(X ≤ x) of chi-square. */
export function chiSquareCdf(x: number, df: number): number {
  return gammaP(df / 2, x / 2);
}

/** P(X ≤ k) of Binomial(n, p). */
export function binomialCdf(k: number, n: number, p: number): number {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return betaI(1 - p, n - Math.floor(k), Math.floor(k) + 1);
}
