import { closeSync, openSync, readSync } from 'node:fs';
import { failure, type TurnwiseError } from '../schema/error.ts';

/** Eight bytes of checksum come before it. */
const DUCKDB = { at: 8, magic: 'DUCK' };
const HEAD_BYTES = 4096;

/**
 * Why a file is no store, from its first bytes: the engine would say so too, or try to read it as something else, but
 * not that a log stands where the store belongs. undefined: a DuckDB file, or one that cannot be read.
 */
export function notAStore(path: string): TurnwiseError | undefined {
  const head = headOf(path);
  if (head === undefined || head.toString('latin1', DUCKDB.at, DUCKDB.at + 4) === DUCKDB.magic)
    return undefined;
  const looks = looksLike(head);
  if (looks === undefined)
    return failure({
      subject: path,
      wrong: 'is not a store: not a DuckDB file',
      fix: 'Make one with "turnwise ingest FILES --store STORE".',
    });
  return failure({
    subject: path,
    wrong: `is not a store but looks like ${looks}`,
    expected: 'one DuckDB file, which Turnwise makes',
    fix: `Read it into one, and name that one: "turnwise ingest ${path} --store runs.duckdb".`,
  });
}

/** How the engine starts a log of changes: its kind, then its version. */
const LOG_START = Buffer.from([0x64, 0x00, 0x62, 0x65, 0x00]);

/**
 * Why a file beside a store, named as the log of its last changes, is none; the engine would pass over it in silence, and
 * write its own over it. undefined: it is one, or may be one that was cut as it began.
 */
export function notALog(path: string, wrong?: string): TurnwiseError | undefined {
  if (wrong === undefined) {
    const start = headOf(path)?.subarray(0, LOG_START.length);
    if (start === undefined || LOG_START.subarray(0, start.length).equals(start)) return undefined;
  }
  return failure({
    subject: path,
    wrong:
      wrong ??
      'stands where the engine keeps the last changes of the store, and is damaged or something else',
    fix: 'Move it away: the store is then as it was before those changes.',
  });
}

function looksLike(head: Buffer): string | undefined {
  const magic = head.toString('latin1', 0, 6);
  if (magic.startsWith('PAR1')) return 'a log or a table in Parquet';
  if (magic === 'ARROW1') return 'a log or a table in Arrow';
  if (magic.startsWith('\x1f\x8b')) return 'a log compressed by gzip';
  if (magic.startsWith('\x28\xb5\x2f\xfd')) return 'a log compressed by Zstandard';
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (/^[[{]/.test(text)) return 'a log in JSON';
  // A character that the end of the head cuts through is no sign of anything.
  return /[\0-\x08\x0e-\x1f]|\ufffd(?!$)/.test(text) ? undefined : 'a log or another text';
}

function headOf(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, HEAD_BYTES, 0));
  } catch {
    return undefined; // The engine says why.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
