/*
 * ln Γ by Stirling's series after the recurrence Γ(x + 1) = x Γ(x); the regularised incomplete
 * gamma P(a, x), Q(a, x) and beta I_x(a, b) by their power series and continued fractions
 * (DLMF 5.11.1, 8.7.1, 8.9.2, 8.17.22), the fractions by the modified Lentz method.
 */

const TINY = 1e-300;
const EPS = 2 ** -53;

/** ln Γ(x), x > 0. */
export function logGamma(x: number): number {
  let shift = 0;
  let z = x;
  let product = 1;
  while (z < 16) {
    product *= z;
    z += 1;
    if (product > 1e250) {
      shift += Math.log(product);
      product = 1;
    }
  }
  shift += Math.log(product);
  // Σ B₂ₖ / (2k (2k − 1) z^(2k − 1)); the next term is below 1e-17 from z = 16 on.
  const i = 1 / z;
  const j = i * i;
  const series =
    i *
    (1 / 12 -
      j * (1 / 360 - j * (1 / 1260 - j * (1 / 1680 - j * (1 / 1188 - j * (691 / 360360 - j * (1 / 156)))))));
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

/** Regularised upper incomplete gamma Q(a, x) = Γ(a, x) / Γ(a), a > 0, x ≥ 0. */
export function gammaQ(a: number, x: number): number {
  if (x <= 0) return 1;
  if (x === Infinity) return 0;
  return x < a + 1 ? 1 - gammaSeries(a, x) : gammaFraction(a, x);
}

/** Regularised lower incomplete gamma P(a, x) = 1 − Q(a, x). */
export function gammaP(a: number, x: number): number {
  if (x <= 0) return 0;
  if (x === Infinity) return 1;
  return x < a + 1 ? gammaSeries(a, x) : 1 - gammaFraction(a, x);
}

/** Regularised incomplete beta I_x(a, b), a, b > 0, 0 ≤ x ≤ 1. */
export function betaI(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // The fraction converges quickly on the left of the mean.
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

function gammaSeries(a: number, x: number): number {
  let term = 1 / a;
  let total = term;
  for (let k = 1; k < 100_000 && term > total * EPS; k++) {
    term *= x / (a + k);
    total += term;
  }
  return total * Math.exp(a * Math.log(x) - x - logGamma(a));
}

function gammaFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let h = d;
  for (let k = 1; k < 100_000; k++) {
    const numerator = -k * (k - a);
    b += 2;
    d = 1 / away(numerator * d + b);
    c = away(b + numerator / c);
    h *= c * d;
    if (Math.abs(c * d - 1) <= 2 * EPS) break;
  }
  return h * Math.exp(a * Math.log(x) - x - logGamma(a));
}

function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let h = d;
  for (let m = 1; m < 100_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    h *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    h *= c * d;
    if (Math.abs(c * d - 1) <= 2 * EPS) break;
  }
  return h;
}

const away = (x: number): number => (Math.abs(x) < TINY ? TINY : x);
