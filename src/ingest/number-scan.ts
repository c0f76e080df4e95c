/** What kinds of element an array held, as bits. */
export const SAW_INTEGER = 1;
export const SAW_FRACTION = 2;
export const SAW_NULL = 4;
export const SAW_BOOLEAN = 8;

/** Numbers read off a JSON array: null is NaN, true is 1, false is 0; `seen` tells them apart. */
export interface NumberScan {
  /** Grows as needed; the first `length` entries count. */
  values: Float64Array;
  length: number;
  seen: number;
}

const POWERS = Float64Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));
/** Relative margin that covers the rounding of a 19-digit mantissa gathered in float64. */
const MARGIN = 2 ** -49;

/**
 * Reads the JSON array that opens at `at` into `out` and returns the position behind its `]`, or −1
 * for anything JSON.parse would refuse and for elements other than numbers, null, true and false:
 * the caller then takes the slow path, which knows how to complain. Cost O(bytes), one pass.
 *
 * A number is exact as JSON.parse gives it: mantissa below 2^53 and a power of ten up to 22 are both
 * exact in float64, so that their product or quotient is correctly rounded; anything else goes
 * through Number(). With `single`, a longer mantissa also passes where both ends of its error
 * interval round to the same float32, which is what the column holds.
 */
export function scanNumbers(bytes: Buffer, at: number, out: NumberScan, single: boolean): number {
  let values = out.values;
  let n = 0;
  let seen = 0;
  let p = at + 1;
  out.length = 0;
  let c = bytes[p]!;
  while (c === 32 || c === 10 || c === 13 || c === 9) c = bytes[++p]!;
  if (c === 93) {
    out.seen = 0;
    return p + 1;
  }
  for (;;) {
    if (n === values.length) {
      values = new Float64Array(2 * n);
      values.set(out.values);
      out.values = values;
    }
    if (c === 110) {
      if (bytes[p + 1] !== 117 || bytes[p + 2] !== 108 || bytes[p + 3] !== 108) return -1;
      values[n++] = Number.NaN;
      seen |= SAW_NULL;
      p += 4;
    } else if (c === 116) {
      if (bytes[p + 1] !== 114 || bytes[p + 2] !== 117 || bytes[p + 3] !== 101) return -1;
      values[n++] = 1;
      seen |= SAW_BOOLEAN;
      p += 4;
    } else if (c === 102) {
      if (bytes[p + 1] !== 97 || bytes[p + 2] !== 108 || bytes[p + 3] !== 115 || bytes[p + 4] !== 101)
        return -1;
      values[n++] = 0;
      seen |= SAW_BOOLEAN;
      p += 5;
    } else {
      const start = p;
      const negative = c === 45;
      if (negative) c = bytes[++p]!;
      let d = c - 48;
      if (!(d >= 0 && d <= 9)) return -1;
      let m = d;
      let digits = 1;
      let exponent = 0;
      d = bytes[++p]! - 48;
      if (m === 0) {
        if (d >= 0 && d <= 9) return -1;
      } else {
        while (d >= 0 && d <= 9) {
          m = m * 10 + d;
          digits++;
          d = bytes[++p]! - 48;
        }
      }
      if (d === -2) {
        const point = p;
        d = bytes[++p]! - 48;
        while (d >= 0 && d <= 9) {
          m = m * 10 + d;
          d = bytes[++p]! - 48;
        }
        exponent = point + 1 - p;
        if (exponent === 0) return -1;
        digits -= exponent;
      }
      if (d === 53 || d === 21) {
        c = bytes[++p]!;
        const down = c === 45;
        if (down || c === 43) c = bytes[++p]!;
        d = c - 48;
        if (!(d >= 0 && d <= 9)) return -1;
        let e = 0;
        while (d >= 0 && d <= 9) {
          e = e * 10 + d;
          d = bytes[++p]! - 48;
        }
        exponent += down ? -e : e;
      }
      let v: number;
      if (m <= 9007199254740991 && exponent <= 22 && exponent >= -22) {
        v = exponent < 0 ? m / POWERS[-exponent]! : m * POWERS[exponent]!;
        if (negative) v = -v;
      } else {
        v = Number.NaN;
        if (single && digits <= 19 && exponent <= 0 && exponent >= -22) {
          v = m / POWERS[-exponent]!;
          v = Math.fround(v * (1 + MARGIN)) === Math.fround(v * (1 - MARGIN)) ? v : Number.NaN;
          if (negative) v = -v;
        }
        if (Number.isNaN(v)) {
          v = Number(bytes.toString('latin1', start, p));
          if (v === Number.POSITIVE_INFINITY || v === Number.NEGATIVE_INFINITY) return -1;
        }
      }
      values[n++] = v;
      seen |= exponent === 0 || Number.isInteger(v) ? SAW_INTEGER : SAW_FRACTION;
    }
    c = bytes[p]!;
    while (c === 32 || c === 10 || c === 13 || c === 9) c = bytes[++p]!;
    if (c === 93) break;
    if (c !== 44) return -1;
    c = bytes[++p]!;
    while (c === 32 || c === 10 || c === 13 || c === 9) c = bytes[++p]!;
  }
  out.length = n;
  out.seen = seen;
  return p + 1;
}
