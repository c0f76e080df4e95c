/** Figures in the sentences of reasons and warnings. */

/** A count with thousands separated. */
export const countWords = (n: number): string => n.toLocaleString('en-US');

/** "1 task", "2,000 tasks". */
export const countedWords = (n: number, what: string): string =>
  `${countWords(n)} ${what}${n === 1 ? '' : 's'}`;

/** A share as a percentage of two digits; what can be no share is not spelled out. */
export function shareWords(share: number): string {
  if (!(share <= 1)) return 'more than 100 %';
  if (share > 0 && share < 0.001) return 'under 0.1 %';
  if (share < 1 && share > 0.995) return 'over 99 %';
  return `${Number((100 * share).toPrecision(2))} %`;
}

/** A number with few digits, thousands separated; beyond a million it only says so. */
export function numberWords(x: number, digits = 1): string {
  if (Math.abs(x) > 1e6) return x > 0 ? 'over 1,000,000' : 'below −1,000,000';
  return x
    .toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    .replace('-', '−');
}
