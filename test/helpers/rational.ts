/** An exact fraction, reduced, with a positive denominator. */
export interface Rational {
  readonly p: bigint;
  readonly q: bigint;
}

export function rational(text: string | number): Rational {
  const [p, q = '1'] = String(text).split('/');
  return reduced(BigInt(p!), BigInt(q));
}

export const plus = (a: Rational, b: Rational): Rational => reduced(a.p * b.q + b.p * a.q, a.q * b.q);
export const minus = (a: Rational, b: Rational): Rational => reduced(a.p * b.q - b.p * a.q, a.q * b.q);
export const times = (a: Rational, b: Rational): Rational => reduced(a.p * b.p, a.q * b.q);
export const over = (a: Rational, b: Rational): Rational => reduced(a.p * b.q, a.q * b.p);
export const toNumber = ({ p, q }: Rational): number => Number(p) / Number(q);

function reduced(p: bigint, q: bigint): Rational {
  const sign = q < 0n ? -1n : 1n;
  const d = gcd(p < 0n ? -p : p, q < 0n ? -q : q) * sign;
  return { p: p / d, q: q / d };
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? (a === 0n ? 1n : a) : gcd(b, a % b));
