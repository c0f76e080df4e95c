import type { Interval } from '../schema/estimate.ts';
import { escapeHtml } from './escape.ts';
import { formatCount, formatInterval, formatNumber, formatShare } from './format.ts';
import { type Html, html, render } from './page.ts';

/**
 * A number of the page that says which value of the report it shows: `of` is the path of the value in the report as
 * data, its parts joined by "/" (`targets/0/audit/evaluation/difference/value`), so that a reader, a program or a test can hold
 * the page against the data. `text` is the value rounded.
 */
export function shown(of: string, value: number | null | undefined, text = formatNumber(value)): Html {
  if (value === null || value === undefined) return html(escapeHtml(text));
  return html(`<data value="${value}" data-of="${escapeHtml(of)}">${escapeHtml(text)}</data>`);
}

type Given = number | null | undefined;

/** A count that lies at `of`, with thousands separated. */
export const shownCount = (of: string, value: Given): Html => shown(of, value, formatNumber(value, 0));

/** A share that lies at `of`, as a percentage. */
export const shownShare = (of: string, value: Given): Html => shown(of, value, formatShare(value));

/** A count and what is counted: "1 task", "12 tasks". */
export const shownCounted = (of: string, n: number, what: string): Html =>
  words`${shown(of, n, formatCount(n))} ${what}${n === 1 ? '' : 's'}`;

/** A text of the report as data, taken from `of`: word by word, but for marks at its end. */
export const cited = (of: string, text: string): Html =>
  html(`<span data-of="${escapeHtml(of)}">${escapeHtml(text)}</span>`);

/** A text of the report as data without the marks at its end, for a sentence that goes on. */
export const citedBare = (of: string, text: string): Html => cited(of, text.replace(/[.;\s]+$/, ''));

/** Parts with `between` them. */
export const joined = (parts: readonly Html[], between: string): Html =>
  html(parts.map((p) => p.html).join(escapeHtml(between)));

/** Both ends of an interval that lies at `of`. */
export function shownInterval(
  of: string,
  interval: Pick<Interval, 'lo' | 'hi'> | null | undefined,
  digits = 3,
): Html {
  if (!interval) return html('–');
  const [lo, hi] = formatInterval(interval, digits).slice(1, -1).split(', ');
  return words`${html('<span class="iv">')}[${shown(`${of}/lo`, interval.lo, lo)}, ${shown(`${of}/hi`, interval.hi, hi)}]${html('</span>')}`;
}

/** A sentence of text, which is escaped, and of Html, which is taken as it is. */
export const words = (fixed: TemplateStringsArray, ...parts: readonly (string | Html)[]): Html =>
  html(fixed.map((text, i) => render(text) + (i < parts.length ? render(parts[i]!) : '')).join(''));
