import { expect, test } from 'vitest';
import { didYouMean } from '../../src/cli/nearest.ts';
import { folded, pieces } from '../../src/cli/screen.ts';
import { table } from '../../src/cli/table.ts';

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));
const words = (text: string): string => text.split(/\s+/).filter(Boolean).join(' ');

test('pieces hold every word and no more than the width; longer words are broken', () => {
  expect(pieces('one two three', 7)).toEqual(['one two', 'three']);
  expect(pieces('abcdefghij kl', 4)).toEqual(['abcd', 'efgh', 'ij', 'kl']);
  expect(pieces('', 4)).toEqual(['']);
});

test('folded lines go on below their last column, or two further in where it lies far to the right', () => {
  expect(folded('  --flag  what it does in words', 20)).toBe(
    '  --flag  what it\n          does in\n          words',
  );
  expect(folded('  prose that is too long', 14)).toBe('  prose that\n    is too\n    long');
  expect(folded('short', 40)).toBe('short');
  expect(folded('x '.repeat(200), Infinity)).toBe('x '.repeat(200));
});

test('a table fits the screen: its words fold, its numbers do not; else each row is a list', () => {
  const header = ['estimator', 'value', 'convention'];
  const rows = [
    ['IS', '0.553', 'weights of whole episodes, each episode once'],
    ['WIS', '0.548', 'weights that sum to 1'],
  ];
  const at = (screen: number) => table(header, rows, [1], 400, screen);
  for (const screen of [40, 50, 60]) {
    expect(widest(at(screen))).toBeLessThanOrEqual(screen);
    expect(words(at(screen)).length).toBe(words(at(Infinity)).length);
  }
  expect(at(Infinity).split('\n')).toHaveLength(4);
  const many = (screen: number) =>
    table(
      ['turn', 'b', 'c', 'd'],
      [['1', '22222222222222', '33333333333333', '4']],
      [0, 1, 2, 3],
      60,
      screen,
    );
  expect(many(30)).toBe(
    '  turn               b\n     1  22222222222222\n\n  turn               c  d\n     1  33333333333333  4\n',
  );
  // Too narrow for one number beside the first column: each row is a list.
  expect(many(20)).toBe('  1\n    b  22222222222222\n    c  33333333333333\n    d  4\n');
});

test('a slip of the keys is named, another word is not', () => {
  const names = ['audit', 'describe', 'export', 'import'];
  expect(didYouMean('audt', names)).toBe('Did you mean "audit"?');
  expect(didYouMean('aduit', names)).toBe('Did you mean "audit"?');
  expect(didYouMean('desc', names)).toBe('Did you mean "describe"?');
  expect(didYouMean('tagret', ['target'], '--')).toBe('Did you mean "--target"?');
  expect(didYouMean('frobnicate', names)).toBeUndefined();
});
