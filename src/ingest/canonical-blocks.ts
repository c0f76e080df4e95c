import type { BlockParser } from './block-parser.ts';
import { lineBlocks } from './line-blocks.ts';
import type { ParsedBlock } from './parse-block.ts';

/**
 * The blocks of a canonical log, in order. A few are under way at once, so that reading, parsing and
 * appending overlap; no more than that, so that memory does not grow with the file.
 */
export async function* canonicalBlocks(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  parser: BlockParser,
): AsyncGenerator<ParsedBlock> {
  const underWay: Promise<ParsedBlock>[] = [];
  try {
    for await (const block of lineBlocks(chunks, maxBytes)) {
      const parsed = parser.parse(block);
      parsed.catch(() => undefined); // It is reported where it is awaited.
      underWay.push(parsed);
      if (underWay.length > parser.inFlight) yield await underWay.shift()!;
    }
    while (underWay.length > 0) yield await underWay.shift()!;
  } finally {
    await parser.close();
  }
}
