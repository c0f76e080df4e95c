import { greatest } from '../math/extremes.ts';
import { plain } from '../report/plain.ts';
import { pieces, screenWidth } from './screen.ts';

/**
 * Columns of text side by side; those in `right` (by index) flush right. Cells are cut at `width` characters. Where
 * the screen is narrower, columns of words are folded, the widest first; where even that is too wide, the columns
 * stand in blocks below each other, each with the first column.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
  width = 60,
  screen = screenWidth(),
): string {
  const cut = (text: string): string => {
    const line = plain(text).replaceAll('\n', ' ').replaceAll('\t', ' ');
    return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
  };
  const cells = [header, ...rows].map((row) => header.map((_, k) => cut(row[k] ?? '')));
  const widths = fittedWidths(
    header.map((_, k) => greatest(cells.map((row) => row[k]!.length))),
    right,
    screen,
  );
  if (widths === null) return inBlocks(header, rows, right, width, screen, cells) ?? records(cells, screen);
  return cells
    .map((row) => {
      const folds = row.map((cell, k) => pieces(cell, widths[k]!));
      const height = greatest(folds.map((fold) => fold.length));
      return Array.from({ length: height }, (_, i) => {
        const line = widths.map((w, k) =>
          right.includes(k) ? (folds[k]![i] ?? '').padStart(w) : (folds[k]![i] ?? '').padEnd(w),
        );
        return `  ${line.join('  ').trimEnd()}\n`;
      }).join('');
    })
    .join('');
}

/** The most columns that fit beside the first one, and the rest below; null where not even one does. */
function inBlocks(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
  width: number,
  screen: number,
  cells: readonly (readonly string[])[],
): string | null {
  for (let k = header.length - 2; k >= 1; k--) {
    const block = [...Array(k + 1).keys()];
    const fits = fittedWidths(
      block.map((c) => greatest(cells.map((row) => row[c]!.length))),
      right,
      screen,
    );
    if (fits === null) continue;
    const rest = [0, ...header.keys()].filter((c, i) => i === 0 || c > k);
    const part = (columns: readonly number[]) =>
      table(
        columns.map((c) => header[c]!),
        rows.map((row) => columns.map((c) => row[c] ?? '')),
        columns.flatMap((c, i) => (right.includes(c) ? [i] : [])),
        width,
        screen,
      );
    return `${part(block)}\n${part(rest)}`;
  }
  return null;
}

/** A column of words is not folded to less. */
const NARROW = 14;

/** Widths of the columns on a screen; null where they do not fit. */
function fittedWidths(
  natural: readonly number[],
  right: readonly number[],
  screen: number,
): readonly number[] | null {
  const widths = [...natural];
  let over = widths.reduce((sum, w) => sum + w + 2, 0) - screen;
  for (; over > 0; over--) {
    let widest = -1;
    for (let k = 0; k < widths.length; k++)
      if (!right.includes(k) && widths[k]! > NARROW && (widest < 0 || widths[k]! > widths[widest]!))
        widest = k;
    if (widest < 0) return null;
    widths[widest]!--;
  }
  return widths;
}

/** Each row as lines of "column  value", its first cell above. */
function records([header, ...rows]: readonly (readonly string[])[], screen: number): string {
  const label = greatest(header!.slice(1).map((name) => name.length));
  const lines = rows.flatMap((row) => [
    ...(row[0] === '' ? [] : pieces(row[0]!, screen - 2).map((piece) => `  ${piece}`)),
    ...row
      .slice(1)
      .flatMap((cell, k) =>
        cell === ''
          ? []
          : pieces(cell, Math.max(NARROW, screen - label - 6)).map(
              (piece, i) => `    ${(i === 0 ? header![k + 1]! : '').padEnd(label)}  ${piece}`,
            ),
      ),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

/** A bar of `value` against `most`, in eighths of a character. */
export function bar(value: number, most: number, width = 24): string {
  if (!(value > 0) || !(most > 0)) return '';
  const eighths = Math.max(1, Math.round((value / most) * width * 8));
  return '█'.repeat(eighths >> 3) + ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths & 7]!;
}

/** Text in lines of at most `width` characters, each after `indent`. */
export function wrap(text: string, width: number, indent = '  '): string {
  return pieces(text, Math.min(width, screenWidth() - indent.length))
    .map((line) => `${indent}${line}\n`)
    .join('');
}
