import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { placeOf } from '../store/place.ts';
import { episodeColumns, type Place } from './episode-columns.ts';
import { JsonArrayError, splitElements } from './json-elements.ts';
import { lineBlocks } from './line-blocks.ts';
import { type LogFormat, type RecordContext, RecordError, type Unit } from './log-format.ts';
import { noteCounts } from './notes.ts';
import {
  type Amend,
  addEpisodes,
  checkLine,
  linesOf,
  type ParsedBlock,
  parseJson,
  rejected,
} from './parse-block.ts';
import { peek } from './peek.ts';
import { HEAD_BYTES, unitOf } from './record-unit.ts';
import { excerpt, type Reject } from './rejects.ts';

export interface RecordFile {
  readonly path: string;
  readonly sha256: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly maxBytes: number;
  readonly amend?: Amend | undefined;
  /** Every file of the call. */
  readonly given: readonly string[];
  readonly memo: Map<string, unknown>;
}

/** One record of a file, or what kept it from being read. */
type RawRecord = Place & { readonly bytes: Buffer; readonly error?: RecordError };

/** How the reason of a reject starts behind which nothing of its file is read. */
export const CUT_ARRAY = 'not a JSON array';
/** Bytes of records gathered into one block. */
const BLOCK = 4 << 20;
/** Short ones may all be rejects, a thousand times their size. */
const RECORDS_A_BLOCK = 8192;

/** Reads a file of a format that turns records into episodes one by one. Memory: a block and a record. */
export async function* recordBlocks(file: RecordFile, format: LogFormat): AsyncGenerator<ParsedBlock> {
  let columns = episodeColumns();
  let rejects: Reject[] = [];
  let notes = noteCounts();
  let parts = 0;
  let bytes = 0;
  let ordinal = 0;
  const { head, chunks } = await peek(file.chunks, format.units.length > 1 ? HEAD_BYTES : 0);
  const unit = unitOf(head, format.units);
  for await (const record of RECORDS[unit]({ ...file, chunks })) {
    try {
      if (record.error) throw record.error;
      const value = parseJson(record.bytes);
      const found = await format.read(value, contextOf(file, ordinal));
      addEpisodes(columns, found, record, file.amend);
      if (found.length === 0) parts++;
      for (const episode of found) notes.add(episode.notes);
    } catch (error) {
      rejects.push(rejected(error, record.bytes, record));
    }
    ordinal++;
    bytes += record.bytes.length;
    if (bytes < BLOCK && ordinal % RECORDS_A_BLOCK !== 0) continue;
    yield { block: columns.finish(), rejects, notes: notes.list(), parts };
    parts = 0;
    columns = episodeColumns();
    rejects = [];
    notes = noteCounts();
    bytes = 0;
  }
  yield { block: columns.finish(), rejects, notes: notes.list(), parts };
}

const RECORDS: Readonly<Record<Unit, (file: RecordFile) => AsyncGenerator<RawRecord>>> = {
  line: lineRecords,
  element: elementRecords,
  document: documentRecord,
};

async function* lineRecords({ chunks, maxBytes }: RecordFile): AsyncGenerator<RawRecord> {
  for await (const block of lineBlocks(chunks, maxBytes)) {
    for (const long of block.tooLong)
      yield { ...long, bytes: Buffer.from(long.excerpt), error: new RecordError(long.reason) };
    const valid = isUtf8(block.bytes);
    for (const line of linesOf(block)) {
      const record = {
        bytes: block.bytes.subarray(line.start, line.end),
        line: line.line,
        byteOffset: line.byteOffset,
      };
      try {
        checkLine(block, line, maxBytes, valid);
        yield record;
      } catch (error) {
        yield { ...record, error: error as RecordError };
      }
    }
  }
}

async function* elementRecords({ chunks, maxBytes }: RecordFile): AsyncGenerator<RawRecord> {
  try {
    for await (const { bytes, offset, line } of splitElements(chunks, maxBytes)) {
      const place = { line, byteOffset: offset };
      if (bytes === null) yield { ...place, bytes: Buffer.alloc(0), error: tooLong(maxBytes) };
      else yield { ...place, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
    }
  } catch (error) {
    if (!(error instanceof JsonArrayError)) throw error;
    const reason = new RecordError(`${CUT_ARRAY}: ${error.message}`);
    yield { line: error.line, byteOffset: error.offset, bytes: Buffer.alloc(0), error: reason };
  }
}

async function* documentRecord({ chunks, maxBytes }: RecordFile): AsyncGenerator<RawRecord> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length <= maxBytes) parts.push(chunk);
  }
  const place = { line: 1, byteOffset: 0 };
  if (length > maxBytes) {
    yield { ...place, bytes: Buffer.from(excerpt(parts[0] ?? Buffer.alloc(0))), error: tooLong(maxBytes) };
    return;
  }
  const bytes = Buffer.concat(parts);
  yield { ...place, bytes: bytes.subarray(bytes.indexOf('\uFEFF') === 0 ? 3 : 0) };
}

function tooLong(maxBytes: number): RecordError {
  return new RecordError(`record is longer than the limit of ${maxBytes} bytes (--max-record-mb)`);
}

function contextOf({ path, sha256, maxBytes, given, memo }: RecordFile, ordinal: number): RecordContext {
  return {
    path,
    ordinal,
    source: { sha256 },
    given,
    memo,
    async readSibling(ref) {
      const folder = resolve(placeOf(dirname(path)));
      const target = resolve(folder, ref);
      const from = relative(folder, target);
      if (
        path === '-' ||
        from === '' ||
        from.startsWith('..') ||
        resolve(folder, from) !== target ||
        /^([/\\]|[a-z]:)/i.test(ref)
      )
        throw new RecordError(`refers to "${ref}", which does not lie beside it`);
      let bytes: Buffer;
      try {
        // A pipe would be waited for, perhaps for ever.
        const info = await stat(target);
        if (!info.isFile()) throw new Error('no regular file');
        if (info.size > maxBytes) throw tooLong(maxBytes);
        bytes = await readFile(target);
      } catch (error) {
        if (error instanceof RecordError) throw error;
        throw new RecordError(`refers to "${ref}", which cannot be read`);
      }
      return parseJson(bytes);
    },
  };
}
