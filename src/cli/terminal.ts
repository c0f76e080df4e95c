import { plain } from '../report/plain.ts';
import type { Io } from './command.ts';
import { folded, screenWidth } from './screen.ts';

let shown = 0;
const clear = () => {
  if (shown > 0) process.stderr.write(`\r${' '.repeat(shown)}\r`);
  shown = 0;
};

/** The terminal: logged text is stripped of control characters on its way out. */
export const terminal: Io = {
  out(text) {
    clear();
    process.stdout.write(plain(text));
  },
  err(text) {
    clear();
    process.stderr.write(plain(process.stderr.isTTY ? folded(text, screenWidth()) : text));
  },
  progress(text) {
    if (!process.stderr.isTTY) return;
    clear();
    const line = plain(text)
      .replaceAll('\n', ' ')
      .slice(0, (process.stderr.columns ?? 80) - 1);
    process.stderr.write(line);
    shown = line.length;
  },
  stdin: process.stdin,
};

/** The terminal with lines folded to its width: for people, never for data. */
export const foldedTerminal: Io = { ...terminal, out: (text) => terminal.out(folded(text, screenWidth())) };
