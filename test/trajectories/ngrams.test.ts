import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { finishHash, hashText, mixBlock } from '../../src/trajectories/murmur.ts';
import { addNgrams, ngramSketch, writeNgrams } from '../../src/trajectories/ngrams.ts';
import { endRow, finishRows, sparseBuilder } from '../../src/trajectories/sparse-builder.ts';

const dims = 16;

/** The row of some texts, dense. */
function row(...texts: string[]): number[] {
  const sketch = ngramSketch(dims);
  const out = sparseBuilder(1);
  for (const text of texts) addNgrams(sketch, text);
  writeNgrams(sketch, out, 0);
  endRow(out);
  const { indices, values } = finishRows(out, []);
  const dense = Array<number>(dims).fill(0);
  indices.forEach((i, j) => {
    dense[i] = values[j]!;
  });
  return dense;
}

/** φ by its definition, from the tokens. */
function definition(tokens: readonly string[]): number[] {
  const hashes = tokens.map((token) => hashText(token));
  const bigrams = hashes.slice(1).map((h, i) => finishHash([hashes[i]!, h].reduce(mixBlock, 0), 2));
  const sums = Array<number>(dims).fill(0);
  for (const h of [...hashes, ...bigrams]) sums[(h & 0x7fffffff) % dims]! += h >>> 31 ? -1 : 1;
  const norm = Math.hypot(...sums);
  return norm === 0 ? sums : sums.map((x) => x / norm);
}

const close = (a: readonly number[], b: readonly number[]) =>
  a.forEach((x, i) => void expect(x).toBeCloseTo(b[i]!, 12));

test.each([
  ['', []],
  ['  …—!? ', []],
  ['Open the FILE', ['open', 'the', 'file']],
  ['error: 404 (not_found)', ['error', '404', 'not_found']],
  ['café, naïve', ['café', 'naïve']],
  ['打开 file', ['打', '开', 'file']],
  ['a\u00a0b\u3000c。d', ['a', 'b', 'c', 'd']],
])('tokens of %j', (text, tokens) => {
  close(row(text), definition(tokens));
});

test.prop([fc.array(fc.stringMatching(/^[a-z0-9_]{1,6}$/), { maxLength: 12 })])(
  'φ by its definition',
  (tokens) => {
    close(row(tokens.join(' ')), definition(tokens));
    close(row(tokens.join('\n, ').toUpperCase()), definition(tokens));
  },
);

test.prop([fc.array(fc.string(), { maxLength: 3 })])('a row has length 1, or nothing in it', (texts) => {
  const norm = Math.hypot(...row(...texts));
  expect(norm === 0 || Math.abs(norm - 1) < 1e-12).toBe(true);
});

test('bigrams do not cross from one text to the next', () => {
  expect(row('open', 'file')).not.toEqual(row('open file'));
});
