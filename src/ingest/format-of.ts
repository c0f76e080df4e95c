import { failure } from '../schema/error.ts';
import { detectFormat, HEAD_BYTES } from './detect.ts';
import { foreignFile } from './foreign-file.ts';
import { STDIN } from './inputs.ts';
import { FORMAT_NAMES, type FormatName } from './log-format.ts';
import { peek } from './peek.ts';

/** A document or an array may have a first record beyond the head. */
const WIDE_HEAD_BYTES = 64 << 20;

/** null: an empty file. */
export async function formatOf(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  options: { readonly format: FormatName | 'auto' },
): Promise<{ format: FormatName | null; chunks: AsyncIterable<Uint8Array> }> {
  const { head, chunks } = await peek(bytes, HEAD_BYTES);
  if (head.every(isSpace)) return { format: null, chunks };
  const subject = path === STDIN ? 'standard input' : path;
  const foreign = foreignFile(head);
  if (foreign) throw failure({ subject, ...foreign });
  if (options.format !== 'auto') return { format: options.format, chunks };
  if (Buffer.from(head.subarray(8, 12)).toString('latin1') === 'DUCK')
    throw failure({
      subject,
      wrong: 'is a DuckDB file, a store perhaps, and no log',
      fix: 'For what another store holds: "turnwise export", then "turnwise import".',
    });
  const format = detectFormat(path, head, head.length < HEAD_BYTES || head.includes(NEWLINE));
  if (format !== undefined) return { format, chunks };
  const wide = await peek(chunks, WIDE_HEAD_BYTES);
  const found = wide.head.length > head.length ? detectFormat(path, wide.head) : undefined;
  if (found === undefined)
    throw failure({
      subject,
      wrong: 'its format is not recognised',
      expected: `one of ${FORMAT_NAMES.join(', ')}`,
      fix: /\.[ct]sv(\.gz|\.zst)?$/i.test(path)
        ? 'A table of rows becomes a log as Parquet, one row an episode, by any DuckDB client: README, "Bandit logs"; a table of rewards goes with --rewards.'
        : 'Convert it to the canonical record, one JSON object a line: "turnwise schema episode".',
    });
  return { format: found, chunks: wide.chunks };
}

const NEWLINE = 10;

function isSpace(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}
