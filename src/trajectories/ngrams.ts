/*
 * Signed hashed n-grams (Weinberger et al. 2009, "Feature hashing for large scale multitask
 * learning"):
 *
 *   φ_i(text) = Σ_{g : h(g) mod d = i} ξ(g),   ξ(g) = ±1 from the top bit of the hash,   φ ← φ / ‖φ‖₂
 *
 * over the unigrams and bigrams g of lower-cased tokens. A token is a run of ASCII letters, digits
 * and _ and of other letters (any character from U+00AA on that is not punctuation or space); each
 * CJK ideograph is a token of its own.
 *
 * A token's hash is rolled over its characters, a bigram's over its two token hashes: no substring
 * is made. The cost is linear in the characters.
 */
import { finishHash, mixBlock } from './murmur.ts';
import { pushEntry, type SparseBuilder } from './sparse-builder.ts';

/** Signed counts of the n-grams taken up since the last row was written. */
export interface NgramSketch {
  readonly sums: Float64Array; // [dims]
}

export function ngramSketch(dims: number): NgramSketch {
  return { sums: new Float64Array(dims) };
}

/** Takes up a text; bigrams do not cross from one text to the next. */
export function addNgrams(sketch: NgramSketch, text: string): void {
  const lower = text.toLowerCase();
  let hash = 0;
  let length = 0;
  let previous = -1;
  for (let i = 0; i <= lower.length; i++) {
    const c = i < lower.length ? lower.charCodeAt(i) : 32;
    const kind = kindOf(c);
    if (length > 0 && kind !== LETTER) {
      previous = addToken(sketch, finishHash(hash, length), previous);
      hash = 0;
      length = 0;
    }
    if (kind === BREAK) continue;
    hash = mixBlock(hash, c);
    length++;
    if (kind === IDEOGRAPH) {
      previous = addToken(sketch, finishHash(hash, length), previous);
      hash = 0;
      length = 0;
    }
  }
}

/** Writes the row's entries from column `base` on, of length 1, and empties the sketch. */
export function writeNgrams(sketch: NgramSketch, out: SparseBuilder, base: number): void {
  const { sums } = sketch;
  let square = 0;
  for (let i = 0; i < sums.length; i++) square += sums[i]! * sums[i]!;
  if (square === 0) return; // all zero already: nothing taken up, or everything cancelled
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < sums.length; i++) pushEntry(out, base + i, sums[i]! * scale);
  sums.fill(0);
}

export function ngramNames(dims: number): string[] {
  return Array.from({ length: dims }, (_, i) => `ngram.${i}`);
}

const BREAK = 0;
const LETTER = 1;
const IDEOGRAPH = 2;

function kindOf(c: number): number {
  if (c < 128) return (c >= 97 && c <= 122) || (c >= 48 && c <= 57) || c === 95 ? LETTER : BREAK;
  if (c < 0xaa || c === 0xab || c === 0xbb || c === 0xbf || c === 0xd7 || c === 0xf7) return BREAK;
  if ((c >= 0x2000 && c <= 0x206f) || (c >= 0x3000 && c <= 0x303f) || (c >= 0xff00 && c <= 0xff0f))
    return BREAK;
  return (c >= 0x3400 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ? IDEOGRAPH : LETTER;
}

function addToken(sketch: NgramSketch, token: number, previous: number): number {
  addGram(sketch, token);
  if (previous >= 0) addGram(sketch, finishHash(mixBlock(mixBlock(0, previous), token), 2));
  return token;
}

function addGram({ sums }: NgramSketch, hash: number): void {
  const i = (hash & 0x7fffffff) % sums.length;
  sums[i] = sums[i]! + (hash >>> 31 ? -1 : 1);
}
