/*
 * Sixteen-bit floats by their bits: float16 of IEEE 754 (1 sign, 5 exponent, 10 fraction) and bfloat16, the upper half
 * of a float32. To float32 both are exact; from float32 to the nearest, ties to even. What is too large for either
 * becomes an infinity, which the caller refuses.
 */
const bits = new Uint32Array(1);
const number = new Float32Array(bits.buffer);

/** ±(1 + f/1024) 2^(e − 15), or ±f/1024 2^−14 where e = 0. */
export function fromFloat16(h: number): number {
  const sign = h & 0x8000 ? -1 : 1;
  const e = (h >> 10) & 31;
  const f = h & 1023;
  if (e === 0) return sign * f * 2 ** -24;
  if (e === 31) return f === 0 ? sign * Infinity : NaN;
  return sign * (1 + f / 1024) * 2 ** (e - 15);
}

export function toFloat16(x: number): number {
  number[0] = x;
  const sign = (bits[0]! >>> 16) & 0x8000;
  const exponent = (bits[0]! >>> 23) & 255;
  const fraction = bits[0]! & 0x7fffff;
  if (exponent === 255) return sign | 0x7c00 | (fraction === 0 ? 0 : 0x200 | (fraction >> 13));
  const e = exponent - 112; // biased by 15 in the place of 127
  if (e >= 31) return sign | 0x7c00;
  // A carry out of the fraction moves on to the exponent, and from the largest number to infinity.
  if (e > 0) return sign | ((e << 10) + toEven(fraction, 13));
  return e < -10 ? sign : sign | toEven(fraction | 0x800000, 14 - e);
}

export function fromBfloat16(h: number): number {
  bits[0] = h << 16;
  return number[0]!;
}

export function toBfloat16(x: number): number {
  if (Number.isNaN(x)) return 0x7fc0; // rounded, its fraction could vanish or carry into the sign
  number[0] = x;
  return ((bits[0]! >>> 31) << 15) | toEven(bits[0]! & 0x7fffffff, 16);
}

/** n 2^−shift, to the nearest, ties to even. */
function toEven(n: number, shift: number): number {
  const whole = n >>> shift;
  const rest = n & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && whole & 1) ? whole + 1 : whole;
}
