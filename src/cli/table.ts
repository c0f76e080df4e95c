import { greatest } from '../math/extremes.ts';
import { plain } from '../report/plain.ts';

/** Columns of text side by side; those in `right` (by index) flush right. Cells are cut at `width` characters. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
  width = 60,
): string {
  const cut = (text: string): string => {
    const line = plain(text).replaceAll('\n', ' ').replaceAll('\t', ' ');
    return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
  };
  const cells = [header, ...rows].map((row) => row.map(cut));
  const widths = header.map((_, k) => greatest(cells.map((row) => (row[k] ?? '').length)));
  return cells
    .map((row) => {
      const line = widths.map((w, k) =>
        right.includes(k) ? (row[k] ?? '').padStart(w) : (row[k] ?? '').padEnd(w),
      );
      return `  ${line.join('  ').trimEnd()}\n`;
    })
    .join('');
}

/** A bar of `value` against `most`, in eighths of a character. */
export function bar(value: number, most: number, width = 24): string {
  if (!(value > 0) || !(most > 0)) return '';
  const eighths = Math.max(1, Math.round((value / most) * width * 8));
  return '█'.repeat(eighths >> 3) + ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths & 7]!;
}

/** Text in lines of at most `width` characters, each after `indent`. */
export function wrap(text: string, width: number, indent = '  '): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1)!.length + word.length + 1 > width) lines.push('');
    lines[lines.length - 1] += lines.at(-1) === '' ? word : ` ${word}`;
  }
  return lines.map((line) => `${indent}${line}\n`).join('');
}
