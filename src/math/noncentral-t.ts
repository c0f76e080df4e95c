/*
 * Power of a two-sided t test: T′ = (Z + δ) / S with Z standard normal and ν S² chi-square(ν), so that
 *   P(|T′| > t) = ∫ [Φ(δ − t s) + Φ(−δ − t s)] f(s) ds,  f(s) = 2 (ν/2)^(ν/2) / Γ(ν/2) · s^(ν−1) exp(−ν s²/2)
 * by Simpson's rule over ten standard deviations of S on either side of its centre (sd ≈ 1/√(2ν)).
 */
import { normalCdf, normalQuantile, studentQuantile } from './distributions.ts';
import { logGamma } from './special.ts';
import { sumOf } from './sum.ts';

/** From here on S is 1 to within 1e-3 and the normal is as good as the density's own rounding. */
const NORMAL = 1e7;

/** P(|T′| > t) of a noncentral t with `df` ≥ 1 and noncentrality δ; about 1e-10. df = ∞ is the normal. */
export function noncentralTails(t: number, df: number, delta: number): number {
  if (df >= NORMAL) return normalCdf(delta - t) + normalCdf(-delta - t);
  // With few degrees of freedom t is large and Φ falls within 1/t of s = 0.
  const panels = df < 10 ? 4000 : 400;
  const reach = 10 / Math.sqrt(2 * df);
  const from = Math.max(0, 1 - reach);
  const step = (1 + reach - from) / panels;
  const log = Math.LN2 + (df / 2) * Math.log(df / 2) - logGamma(df / 2);
  const f = (s: number): number => {
    const density =
      s === 0 ? (df === 1 ? Math.exp(log) : 0) : Math.exp(log + (df - 1) * Math.log(s) - (df * s * s) / 2);
    return density * (normalCdf(delta - t * s) + normalCdf(-delta - t * s));
  };
  const weight = (i: number): number => (i === 0 || i === panels ? 1 : i % 2 === 1 ? 4 : 2);
  return (sumOf(panels + 1, (i) => weight(i) * f(from + i * step)) * step) / 3;
}

/** Power of the two-sided t test at level α, `df` degrees of freedom, effect δ in standard errors. */
export function tTestPower(delta: number, df: number, alpha: number): number {
  return Math.min(1, noncentralTails(studentQuantile(1 - alpha / 2, df), df, Math.abs(delta)));
}

/** The effect, in standard errors, that the test sees with probability `power` > α. Bisection, about 1e-12. */
export function detectableEffect(power: number, df: number, alpha: number): number {
  const t = studentQuantile(1 - alpha / 2, df);
  let lo = 0;
  let hi = t + normalQuantile(power) + 1;
  while (noncentralTails(t, df, hi) < power) hi *= 2;
  for (let k = 0; k < 60 && hi - lo > 1e-12 * hi; k++) {
    const middle = (lo + hi) / 2;
    if (noncentralTails(t, df, middle) < power) lo = middle;
    else hi = middle;
  }
  return (lo + hi) / 2;
}
