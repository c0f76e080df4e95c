import { failure } from '../schema/error.ts';

export interface CsvRow {
  /** Line of the row's first character, from 1. */
  readonly line: number;
  /** Cells by the name of their column. */
  readonly row: ReadonlyMap<string, string>;
}

/**
 * Rows of a CSV text by RFC 4180: commas, quotes doubled inside quotes, line breaks inside quotes;
 * the first row names the columns. Lines end with LF, CRLF or CR. Blank lines are no rows. Throws for a row of another
 * width, for a column named twice and for a quote that never closes, naming the line.
 */
export function* csvRows(text: string, name: string): Generator<CsvRow> {
  let header: readonly string[] | null = null;
  for (const { line, cells } of records(text, name)) {
    if (cells.length === 1 && cells[0] === '') continue;
    if (header === null) {
      header = cells.map((cell) => cell.trim());
      const twice = header.find((column, i) => column !== '' && header!.indexOf(column) < i);
      if (twice !== undefined)
        throw failure({
          subject: `${name} line ${line}`,
          wrong: `names the column ${JSON.stringify(twice)} twice, so that a row has two values of it`,
        });
      continue;
    }
    if (cells.length !== header.length)
      throw failure({
        subject: `${name} line ${line}`,
        wrong: 'another number of cells than the header',
        got: cells.length,
        expected: String(header.length),
      });
    yield { line, row: new Map(header.map((column, i) => [column, cells[i]!])) };
  }
}

function* records(text: string, name: string): Generator<{ line: number; cells: string[] }> {
  let cells: string[] = [];
  let cell = '';
  let quoted = false;
  let line = 1;
  let start = 1;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    // CRLF is counted at its LF; a CR alone ends a line too.
    const ends = c === '\n' || (c === '\r' && text[i + 1] !== '\n');
    if (ends) line++;
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (c === '"' && cell === '') quoted = true;
    else if (c === ',') {
      cells.push(cell);
      cell = '';
    } else if (ends) {
      cells.push(cell);
      yield { line: start, cells };
      cells = [];
      cell = '';
      start = line;
    } else if (c !== '\r') cell += c;
  }
  if (quoted) throw failure({ subject: `${name} line ${start}`, wrong: 'a quote that never closes' });
  if (cell !== '' || cells.length > 0) yield { line: start, cells: [...cells, cell] };
}
