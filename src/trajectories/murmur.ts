/*
 * MurmurHash3_x86_32 (Appleby, 2011) over whole 32-bit blocks.
 *
 *   k ← k·c₁; k ← rotl₁₅(k); k ← k·c₂;  h ← h ⊕ k; h ← rotl₁₃(h); h ← 5h + 0xe6546b64
 *   at the end h ← fmix(h ⊕ length in bytes)
 *
 * Departure: a text is hashed by its UTF-16 code units, one block each, so that no bytes have to be
 * written out. The same text gives the same number on every machine.
 */

/** Takes up one 32-bit block. */
export function mixBlock(hash: number, block: number): number {
  let k = Math.imul(block, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  const h = hash ^ k;
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/** The hash of all blocks taken up, 0 to 2³² − 1. */
export function finishHash(hash: number, blocks: number): number {
  let h = hash ^ (blocks * 4);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Hash of a text, 0 to 2³² − 1. */
export function hashText(text: string, seed = 0): number {
  let h = seed;
  for (let i = 0; i < text.length; i++) h = mixBlock(h, text.charCodeAt(i));
  return finishHash(h, text.length);
}
