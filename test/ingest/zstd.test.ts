import { spawnSync } from 'node:child_process';
import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { isZstd, unzstd } from '../../src/ingest/zstd.ts';

const bytesOf = (text: string) => Buffer.from(text);
async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function unpacked(bytes: Uint8Array, size = 1000): Promise<Buffer> {
  const out: Uint8Array[] = [];
  for await (const chunk of unzstd(inPieces(bytes, size))) out.push(Buffer.from(chunk));
  return Buffer.concat(out);
}

/** Magic, descriptor (checksum, or none, of a single segment below 256 bytes), length, one raw block; made by hand. */
const frame = (text: string, checksum?: readonly number[]) =>
  Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, checksum ? 0x24 : 0x20, text.length]),
    Buffer.from([(text.length << 3) | 1, text.length >> 5, 0]),
    bytesOf(text),
    Buffer.from(checksum ?? []),
  ]);
/** XXH64 of "abc" is 0x44BC2CF5AD770999 (the reference implementation's own test vector). */
const ABC = frame('abc', [0x99, 0x09, 0x77, 0xad]);
const skippable = (n: number) =>
  Buffer.concat([Buffer.from([0x53, 0x2a, 0x4d, 0x18, n, 0, 0, 0]), Buffer.alloc(n, 7)]);

describe('frames made by hand', () => {
  test('a checksum that is right, one that is wrong, none', async () => {
    expect((await unpacked(ABC)).toString()).toBe('abc');
    expect((await unpacked(ABC, 1)).toString()).toBe('abc');
    expect((await unpacked(frame('abd'))).toString()).toBe('abd');
    await expect(unpacked(frame('abd', [0x99, 0x09, 0x77, 0xad]))).rejects.toThrow(
      /checksum of its content is wrong/,
    );
  });

  test('several frames, skippable ones before, between and after, an empty one', async () => {
    const all = Buffer.concat([skippable(3), ABC, skippable(200), frame(''), frame('xyz'), skippable(0)]);
    for (const size of [1, 2, 7, 1000]) expect((await unpacked(all, size)).toString()).toBe('abcxyz');
    expect(isZstd(all)).toBe(true);
  });

  test.each([
    ['rubbish behind', Buffer.concat([ABC, bytesOf('rubbish')]), /stands behind its last frame/],
    ['zeros behind', Buffer.concat([ABC, Buffer.alloc(4)]), /stands behind its last frame/],
    ['a dictionary', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x21, 77, 3, 0, 0]), /needs dictionary 77/],
    [
      'a window of 1 GiB',
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 1, 0, 0]),
      /window is 1073741824 bytes/,
    ],
    [
      'a length of 2^40',
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]),
      /window is 1099511627776/,
    ],
    ['a block of a reserved kind', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 7, 0, 0]), /no known kind/],
    ['a block of 2 MB', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0xfb, 0xff, 0xff, 1]), /too long/],
    [
      'less than it declares',
      Buffer.from([...ABC.subarray(0, 5), 9, ...ABC.subarray(6)]),
      /holds 3 bytes, and declares 9/,
    ],
    [
      'more than it declares',
      Buffer.from([...ABC.subarray(0, 5), 2, ...ABC.subarray(6)]),
      /more than the 2 bytes it declares/,
    ],
    ['a reserved bit', Buffer.from([...ABC.subarray(0, 4), 0x2c, ...ABC.subarray(5)]), /reserved bit/],
    ['a skippable frame that is cut', skippable(9).subarray(0, 12), /ends too early/],
  ])('%s', async (_, bytes, message) => {
    await expect(unpacked(bytes)).rejects.toThrow(message);
  });
});

const packed = (text: string, ...flags: string[]) => {
  const done = spawnSync('zstd', ['-q', '-c', ...flags], { input: text, maxBuffer: 1 << 28 });
  return done.stdout;
};
const hasZstd = spawnSync('zstd', ['--version']).status === 0;
const lines = Array.from({ length: 400 }, (_, i) => `{"id":${i},"x":${Math.imul(i, 2654435761) >>> 0}}`).join(
  '\n',
);

describe.skipIf(!hasZstd)(`what the program zstd writes${hasZstd ? '' : ' (skipped: no zstd)'}`, () => {
  test.each([
    ['-1'],
    ['-3'],
    ['-19'],
    ['--no-check'],
    ['--no-content-size'],
    ['--format=zstd', '-T2'],
    ['--long=27'],
  ])('comes back: %s', async (...flags) => {
    const bytes = packed(lines.repeat(5), ...flags);
    expect((await unpacked(bytes, 4096)).toString() === lines.repeat(5)).toBe(true);
  });

  test('of single flipped bits of a file with a checksum, none gives other content', async () => {
    const bytes = packed(lines, '--check');
    let same = 0;
    let refused = 0;
    for (let k = 0; k < 200; k++) {
      const bit = Math.imul(k + 1, 2654435761) >>> 0;
      const flipped = Buffer.from(bytes);
      flipped[(bit >>> 3) % bytes.length]! ^= 1 << (bit & 7);
      const text = await unpacked(flipped).then(String, () => undefined);
      if (text === undefined) refused++;
      else {
        expect(text === lines).toBe(true);
        same++;
      }
    }
    expect(refused).toBeGreaterThan(195);
    expect(same + refused).toBe(200);
  });

  test('cut at any place, it ends too early', async () => {
    const bytes = packed(lines);
    for (let k = 0; k < 100; k++) {
      const cut = 1 + ((Math.imul(k + 1, 2654435761) >>> 0) % (bytes.length - 1));
      await expect(unpacked(bytes.subarray(0, cut))).rejects.toThrow();
    }
  });
});

test.prop([fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 40 })])(
  'rubbish ends in an error or in bytes, and does not hang',
  async (rubbish, at) => {
    const bytes = Buffer.concat([ABC.subarray(0, at % ABC.length), rubbish]);
    await unpacked(bytes).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
  },
);
