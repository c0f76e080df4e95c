import { parentPort, workerData } from 'node:worker_threads';
import { buffersOf } from './block-parser.ts';
import type { LineBlock } from './line-blocks.ts';
import { parseCanonicalBlock } from './parse-block.ts';
import { segmentScanner } from './segment-scan.ts';

/** The thread behind `threadParser`: blocks in, columns out, in order. */
const scanner = segmentScanner();

parentPort!.on('message', (block: LineBlock) => {
  // A Buffer arrives as a plain Uint8Array.
  const { buffer, byteOffset, byteLength } = block.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const parsed = parseCanonicalBlock({ ...block, bytes }, scanner, workerData as number);
  parentPort!.postMessage(parsed, buffersOf(parsed));
});
