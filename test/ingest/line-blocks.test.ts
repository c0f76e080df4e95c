import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { type LineBlock, lineBlocks } from '../../src/ingest/line-blocks.ts';
import { linesOf } from '../../src/ingest/parse-block.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r', ' ', 'é'), maxLength: 60 });

async function blocksOf(bytes: Buffer, cuts: readonly number[], maxBytes: number): Promise<LineBlock[]> {
  async function* chunks() {
    const ends = [...new Set(cuts.map((c) => c % (bytes.length + 1)))].sort((a, b) => a - b);
    let from = 0;
    for (const to of [...ends, bytes.length]) {
      yield bytes.subarray(from, to);
      from = to;
    }
  }
  const blocks: LineBlock[] = [];
  for await (const block of lineBlocks(chunks(), maxBytes)) blocks.push(block);
  return blocks;
}

/** The lines of the whole text with their places, the plain way. */
function plainLines(bytes: Buffer) {
  const lines: { text: string; line: number; byteOffset: number }[] = [];
  let byteOffset = 0;
  for (const [k, line] of bytes.toString().split('\n').entries()) {
    if (/[^ \t\r]/.test(line)) lines.push({ text: line, line: k + 1, byteOffset });
    byteOffset += Buffer.byteLength(line) + 1;
  }
  return lines;
}

test.prop([text, fc.array(fc.nat(), { maxLength: 5 })])(
  'every line comes out once, with its number and its offset, however the file is chunked',
  async (content, cuts) => {
    const bytes = Buffer.from(content);
    const blocks = await blocksOf(bytes, cuts, 1 << 20);
    const got = blocks.flatMap((b) =>
      [...linesOf(b)].map(({ start, end, line, byteOffset }) => ({
        text: b.bytes.toString('utf8', start, end),
        line,
        byteOffset,
      })),
    );
    expect(got).toEqual(plainLines(bytes));
    const last = blocks.at(-1);
    expect(last?.unterminated ?? false).toBe(content !== '' && !content.endsWith('\n'));
  },
);

test.prop([fc.array(fc.nat({ max: 4000 }), { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 5 })])(
  'a line beyond the limit is told with its place and its length, and those around it come out',
  async (lengths, cuts) => {
    const limit = 1500;
    const lines = lengths.map((n, k) => String.fromCharCode(97 + (k % 26)).repeat(n + 1));
    const bytes = Buffer.from(lines.map((l) => `${l}\n`).join(''));
    const blocks = await blocksOf(bytes, cuts, limit);
    // A line just beyond the limit may lie whole in a block; its reader sees how long it is.
    const held = blocks.flatMap((b) =>
      [...linesOf(b)].map((l) => ({ line: l.line, byteOffset: l.byteOffset, length: l.end - l.start })),
    );
    const told = blocks.flatMap((b) =>
      b.tooLong.map((r) => ({
        line: r.line,
        byteOffset: r.byteOffset,
        length: Number(/is (\d+) bytes/.exec(r.reason)![1]),
      })),
    );
    let byteOffset = 0;
    const expected = lines.map((l, k) => {
      const place = { line: k + 1, byteOffset, length: l.length };
      byteOffset += l.length + 1;
      return place;
    });
    expect([...held, ...told].sort((a, b) => a.line - b.line)).toEqual(expected);
    expect(told.every((t) => t.length > limit)).toBe(true);
    expect(held.every((h) => h.length <= limit)).toBe(true);
    expect(blocks.every((b) => b.bytes.length <= limit + 1)).toBe(true);
  },
);

test('a byte order mark is left out and offsets still count it', async () => {
  const [block] = await blocksOf(Buffer.from('\uFEFF{}\n{}\n'), [], 1 << 20);
  expect([...linesOf(block!)].map((l) => [l.byteOffset, l.end - l.start])).toEqual([
    [3, 2],
    [6, 2],
  ]);
});

test('short lines come in blocks of a bounded number, each once', async () => {
  const lines = Array.from({ length: 30_000 }, (_, k) => (k % 7 === 0 ? '' : String(k)));
  const bytes = Buffer.from(`\ufeff${lines.join('\n')}`);
  const blocks = await blocksOf(bytes, [5, 77_777], 1 << 20);
  const got = blocks.flatMap((b) =>
    [...linesOf(b)].map(({ start, end, line, byteOffset }) => ({
      text: b.bytes.toString('utf8', start, end),
      line,
      byteOffset,
    })),
  );
  const plain = plainLines(Buffer.from(lines.join('\n')));
  expect(got).toEqual(plain.map((l) => ({ ...l, byteOffset: l.byteOffset + 3 })));
  expect(Math.max(...blocks.map((b) => [...linesOf(b)].length))).toBeLessThan(8200);
  expect(blocks.map((b) => b.unterminated)).toEqual(blocks.map((_, k) => k === blocks.length - 1));
});

test('lines beyond the limit, one after the other, come in blocks of a bounded number', async () => {
  const bytes = Buffer.from(`${'x'.repeat(2000)}\n`.repeat(20_000));
  const blocks = await blocksOf(bytes, [], 1000);
  const told = blocks.flatMap((b) => b.tooLong);
  const held = blocks.flatMap((b) => [...linesOf(b)]);
  expect(told.length + held.length).toBe(20_000);
  expect(Math.max(...blocks.map((b) => b.tooLong.length))).toBeLessThan(8200);
});
