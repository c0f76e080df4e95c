import { Worker } from 'node:worker_threads';
import type { ColumnData } from '../store/batch.ts';
import { workerUrl } from '../threads/worker-url.ts';
import type { LineBlock } from './line-blocks.ts';
import { type Amend, type ParsedBlock, parseCanonicalBlock } from './parse-block.ts';
import { segmentScanner } from './segment-scan.ts';

/** Parses canonical blocks; the answers come in the order of the calls. */
export interface BlockParser {
  parse(block: LineBlock): Promise<ParsedBlock>;
  /** Blocks worth handing over before the first answer is waited for. */
  readonly inFlight: number;
  close(): Promise<void>;
}

/** In this thread: right for small files, and the only way where episodes are amended. */
export function inlineParser(maxBytes: number, amend?: Amend): BlockParser {
  const scanner = segmentScanner();
  return {
    inFlight: 0,
    parse: async (block) => parseCanonicalBlock(block, scanner, maxBytes, amend),
    close: async () => undefined,
  };
}

/** In one other thread, so that parsing and appending overlap; blocks and columns change hands uncopied. */
export function threadParser(maxBytes: number): BlockParser {
  const worker = new Worker(workerUrl(import.meta.url, 'parse-worker'), { workerData: maxBytes });
  const waiting: { resolve(parsed: ParsedBlock): void; reject(error: unknown): void }[] = [];
  const fail = (error: unknown) => {
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  worker.on('message', (parsed: ParsedBlock) => waiting.shift()!.resolve(parsed));
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the parsing thread ended')));
  return {
    inFlight: 3,
    parse: (block) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        worker.postMessage(block, [block.bytes.buffer as ArrayBuffer]);
      }),
    close: async () => {
      worker.removeAllListeners('exit');
      await worker.terminate();
    },
  };
}

/** The buffers under the columns of a block, for handing them over. */
export function buffersOf({ block }: ParsedBlock): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const add = (array: { readonly buffer: ArrayBufferLike } | undefined) => {
    if (array) buffers.add(array.buffer as ArrayBuffer);
  };
  const addColumn = (data: ColumnData): void => {
    if (data.kind === 'text') return;
    add(data.valid);
    if (data.kind === 'list') {
      add(data.offsets);
      addColumn(data.child);
    } else add(data.values);
  };
  for (const batch of [block.episodes, block.turns, block.segments])
    for (const data of Object.values(batch.columns)) addColumn(data);
  add(block.lines);
  add(block.byteOffsets);
  return [...buffers];
}
