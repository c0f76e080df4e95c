import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { finishHash, hashText, mixBlock } from '../../src/trajectories/murmur.ts';

/** Verification values of MurmurHash3_x86_32 in wide circulation (bytes as little-endian blocks). */
test.each([
  [[], 0, 0],
  [[], 1, 0x514e28b7],
  [[], 0xffffffff, 0x81f16f39],
  [[0xffffffff], 0, 0x76293b50],
  [[0x87654321], 0, 0xf55b516b],
  [[0x87654321], 0x5082edee, 0x2362f9de],
  [[0], 0, 0x2362f9de],
])('blocks %j with seed %i', (blocks, seed, hash) => {
  expect(finishHash(blocks.reduce(mixBlock, seed), blocks.length)).toBe(hash);
});

test.prop([fc.string({ unit: 'binary' }), fc.nat()])(
  'a text is its UTF-16 code units, one block each',
  (text, seed) => {
    expect(hashText(text, seed)).toBe(
      reference(
        [...Array(text.length).keys()].map((i) => text.charCodeAt(i)),
        seed,
      ),
    );
  },
);

/** The published algorithm in whole numbers of any size. */
function reference(blocks: readonly number[], seed: number): number {
  const M = 0xffffffffn;
  const rotl = (x: bigint, r: bigint) => ((x << r) | (x >> (32n - r))) & M;
  let h = BigInt(seed);
  for (const block of blocks) {
    const k = (rotl((BigInt(block) * 0xcc9e2d51n) & M, 15n) * 0x1b873593n) & M;
    h = (rotl(h ^ k, 13n) * 5n + 0xe6546b64n) & M;
  }
  h ^= BigInt(blocks.length * 4);
  h = ((h ^ (h >> 16n)) * 0x85ebca6bn) & M;
  h = ((h ^ (h >> 13n)) * 0xc2b2ae35n) & M;
  return Number(h ^ (h >> 16n));
}
