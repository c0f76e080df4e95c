import type { Interval } from '../schema/estimate.ts';

/** A number as a person reads it: `digits` after the point, a true minus sign, "–" where there is none. */
export function formatNumber(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (Number.isInteger(value) && digits === 0) return value.toLocaleString('en-US').replace('-', '−');
  const size = Math.abs(value);
  // A return of 1e9 + 1 is told from one of 1e9 where its digits are asked for.
  const large = size >= (digits < 3 ? 1e7 : 1e12);
  return signed(
    size !== 0 && (size < 10 ** -digits / 2 || large) ? value.toExponential(2) : value.toFixed(digits),
  );
}

function signed(text: string): string {
  return text
    .replace('-', '−')
    .replace(/^(−?\d+)(?=\.|$)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

/**
 * Digits after the point that show two of a standard error, 3 at least: for a value, its error and its interval.
 * A click rate of 0.0057 ± 0.0014 says nothing as 0.006 ± 0.001.
 */
export function decimalsFor(se: number | null | undefined): number {
  if (!se || !Number.isFinite(se)) return 3;
  return Math.min(9, Math.max(3, 1 - Math.floor(Math.log10(se))));
}

/** With its sign and no exponent for what rounds to 0: for columns of differences. */
export function formatSigned(value: number, digits = 3): string {
  if (Math.abs(value) < 10 ** -digits / 2) return (0).toFixed(digits);
  return (value > 0 ? '+' : '') + formatNumber(value, digits);
}

/** How much lower an error is than another: "0.0495 below". */
export const gainWords = (gain: number): string =>
  `${formatNumber(Math.abs(gain), 4)} ${gain < 0 ? 'above' : 'below'}`;

/** A count with thousands separated. */
export const formatCount = (value: number): string => formatNumber(value, 0);

export { countedWords as counted } from '../weights/words.ts';

/** A share as a percentage. */
export const formatShare = (value: number | null | undefined): string =>
  value === null || value === undefined || Number.isNaN(value) ? '–' : `${formatNumber(100 * value, 1)} %`;

/** An error rate; where only some failures are known, what it is at least. */
export const rateWords = (rate: number | null, atLeast: number | null): string =>
  rate !== null || atLeast === null || atLeast === 0 ? formatShare(rate) : `at least ${formatShare(atLeast)}`;

/** Both ends, with as many digits more as it takes to tell them apart. */
export function formatInterval(interval: Pick<Interval, 'lo' | 'hi'> | null, digits = 3): string {
  if (interval === null) return '–';
  const { lo, hi } = interval;
  const ends = (format: (x: number) => string): string => `[${format(lo)}, ${format(hi)}]`;
  if (lo === hi || formatNumber(lo, digits) !== formatNumber(hi, digits))
    return ends((x) => formatNumber(x, digits));
  for (let d = digits + 1; d <= 12; d++)
    if (Math.max(Math.abs(lo), Math.abs(hi)) < 1e12 && lo.toFixed(d) !== hi.toFixed(d))
      return ends((x) => signed(x.toFixed(d)));
  let d = 3;
  while (d < 16 && lo.toExponential(d) === hi.toExponential(d)) d++;
  return ends((x) => signed(x.toExponential(d)));
}
