import type { Warning } from '../schema/warning.ts';
import { formatCount } from './format.ts';
import type { Html } from './page.ts';
import { cited, citedBare, shownCount, words } from './shown-number.ts';

type Given = Pick<Warning, 'message'> & { count?: number | undefined };

/** A warning as a sentence; how many rows it concerns only where the sentence does not say so itself. */
export function warningLine({ message, count }: Given): string {
  if (!needsCount(message, count)) return message;
  const sentence = message.replace(/\.$/, '');
  return `${sentence}: ${formatCount(count)}${sentence === message ? '' : '.'}`;
}

/** The same on the page, for a warning that lies at `at`. */
export const warningHtml = ({ message, count }: Given, at: string): Html =>
  needsCount(message, count)
    ? words`${citedBare(`${at}/message`, message)}: ${shownCount(`${at}/count`, count)}${message.endsWith('.') ? '.' : ''}`
    : cited(`${at}/message`, message);

function needsCount(message: string, count: number | undefined): count is number {
  const numbers: readonly string[] = message.replaceAll(/(?<=\d),(?=\d{3})/g, '').match(/\d+/g) ?? [];
  return count !== undefined && numbers.length <= 1 && !numbers.includes(String(count));
}
