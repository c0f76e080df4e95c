/*
 * Power of a two-sided t test: T′ = (Z + δ) / S with Z standard normal and ν S² chi-square(ν), so that
 *   P(|T′| > t) = ∫ [Φ(δ − t s) + Φ(−δ − t s)] f(s) ds,  f(s) = 2 (ν/2)^(ν/2) / Γ(ν/2) · s^(ν−1) exp(−ν s²/2)
 * by the trapezoidal rule in x = ln s, which converges geometrically: the integrand is analytic about the
 * whole line and falls at both ends (Trefethen and Weideman 2014).
 */
import { normalCdf, normalQuantile, studentQuantile } from './distributions.ts';
import { logGamma } from './special.ts';
import { sumOf } from './sum.ts';

/** From here on S is 1 to within 1e-3 and the normal is as good as the density's own rounding. */
const NORMAL = 1e7;

/**
 * P(|T′| > t) of a noncentral t with `df` ≥ 1 and noncentrality δ; to 1e-12, to 1e-8 from a million
 * degrees on. df = ∞ is the normal.
 */
export function noncentralTails(t: number, df: number, delta: number): number {
  if (df >= NORMAL) return normalCdf(delta - t) + normalCdf(-delta - t);
  // s f(s) is C exp(ν (x − e^{2x}/2)): beyond these ends it is e⁻⁴⁰ of its peak.
  const from = df > 142 ? -Math.sqrt(80 / df) : -40 / df - 0.5;
  const to = Math.sqrt(40 / df);
  // It is about 1/√(2ν) wide, and Φ falls within about 1/δ.
  const fine = Math.min(0.1, 0.4 / Math.sqrt(2 * df), 0.4 / Math.max(1, Math.abs(delta)));
  const points = Math.ceil((to - from) / fine) + 1;
  const step = (to - from) / (points - 1);
  const log = Math.LN2 + (df / 2) * Math.log(df / 2) - logGamma(df / 2);
  const total = sumOf(points, (i) => {
    const x = from + i * step;
    const s = Math.exp(x);
    return Math.exp(log + df * (x - (s * s) / 2)) * (normalCdf(delta - t * s) + normalCdf(-delta - t * s));
  });
  return total * step;
}

/** Power of the two-sided t test at level α, `df` degrees of freedom, effect δ in standard errors. */
export function tTestPower(delta: number, df: number, alpha: number): number {
  return Math.min(1, noncentralTails(studentQuantile(1 - alpha / 2, df), df, Math.abs(delta)));
}

/**
 * The effect, in standard errors, that the test sees with probability `power` > α: the root of a rising
 * function, by false position with Illinois steps (Dowell and Jarratt 1971).
 */
export function detectableEffect(power: number, df: number, alpha: number): number {
  const t = studentQuantile(1 - alpha / 2, df);
  const over = (delta: number): number => noncentralTails(t, df, delta) - power;
  let lo = 0;
  let atLo = alpha - power;
  let hi = t + normalQuantile(power) + 1;
  let atHi = over(hi);
  while (atHi < 0) {
    hi *= 2;
    atHi = over(hi);
  }
  for (let k = 0; k < 100 && hi - lo > 1e-12 * hi; k++) {
    const delta = lo + ((hi - lo) * atLo) / (atLo - atHi);
    const at = over(delta);
    if (Math.abs(at) < 1e-13) return delta;
    // An end that stays put is weighed half, so that both ends close in.
    if (at < 0) {
      lo = delta;
      atLo = at;
      atHi /= 2;
    } else {
      hi = delta;
      atHi = at;
      atLo /= 2;
    }
  }
  return (lo + hi) / 2;
}
