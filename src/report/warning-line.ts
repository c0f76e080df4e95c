import type { Warning } from '../schema/warning.ts';
import { formatCount } from './format.ts';

/** A warning as a sentence; how many rows it concerns only where the sentence does not say so itself. */
export function warningLine({
  message,
  count,
}: Pick<Warning, 'message'> & { count?: number | undefined }): string {
  const numbers: readonly string[] = message.replaceAll(/(?<=\d),(?=\d{3})/g, '').match(/\d+/g) ?? [];
  if (count === undefined || numbers.length > 1 || numbers.includes(String(count))) return message;
  const sentence = message.replace(/\.$/, '');
  return `${sentence}: ${formatCount(count)}${sentence === message ? '' : '.'}`;
}
