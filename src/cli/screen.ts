/** Characters of a line: of the terminal, or of COLUMNS; output to a file or a program is not folded. */
export function screenWidth(): number {
  const declared = Number(process.env.COLUMNS);
  const columns = process.stdout.isTTY ? process.stdout.columns : declared;
  return columns > 0 ? Math.max(columns, LEAST) : Infinity;
}

/** Narrower than this, a line holds too little to read. */
const LEAST = 40;

/** A line in pieces of at most `width` characters, broken between words, a longer word where it has to. */
export function pieces(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    let rest = word;
    const last = lines.at(-1)!;
    const joined = last === '' ? word : `${last} ${word}`;
    if (joined.length <= width) {
      lines[lines.length - 1] = joined;
      continue;
    }
    if (last !== '') lines.push('');
    for (; rest.length > width; rest = rest.slice(width)) lines.splice(-1, 1, rest.slice(0, width), '');
    lines[lines.length - 1] = rest;
  }
  return lines;
}

/**
 * Text whose lines fit a screen: what is too long goes on below the start of its last column, or of its text where
 * that lies too far to the right.
 */
export function folded(text: string, width: number): string {
  if (width === Infinity) return text;
  return text
    .split('\n')
    .map((line) => (line.length <= width ? line : foldedLine(line, width)))
    .join('\n');
}

function foldedLine(line: string, width: number): string {
  const start = /^ */.exec(line)![0].length;
  const column = /^.*\S {2,}/.exec(line)?.[0].length ?? start;
  const hanging = column > start && column <= width / 2 ? column : Math.min(start + 2, width / 2);
  const [first = '', ...others] = pieces(line.slice(start), width - start);
  // The first line keeps its columns, which `pieces` takes for words.
  const rest = others.join(' ');
  if (rest === '') return line;
  return [
    `${' '.repeat(start)}${first}`,
    ...pieces(rest, width - hanging).map((piece) => `${' '.repeat(hanging)}${piece}`),
  ].join('\n');
}
