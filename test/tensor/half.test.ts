import { expect, test } from 'vitest';
import { fromBfloat16, fromFloat16, toBfloat16, toFloat16 } from '../../src/tensor/half.ts';

/** Bits and values from IEEE 754-2008, table of binary16: extremes, subnormals, thirds. */
const FLOAT16: readonly [number, number][] = [
  [0x0000, 0],
  [0x8000, -0],
  [0x0001, 2 ** -24],
  [0x03ff, 1023 * 2 ** -24],
  [0x0400, 2 ** -14],
  [0x3555, 0.333251953125],
  [0x3c00, 1],
  [0x3c01, 1 + 2 ** -10],
  [0xc000, -2],
  [0x7bff, 65504],
  [0x7c00, Infinity],
  [0xfc00, -Infinity],
];

test('float16 by its bits', () => {
  for (const [bits, value] of FLOAT16) {
    expect(fromFloat16(bits)).toBe(value);
    expect(toFloat16(value)).toBe(bits);
  }
  expect(fromFloat16(0x7e00)).toBeNaN();
  expect(fromFloat16(toFloat16(NaN))).toBeNaN();
});

test('every float16 goes to float32 and back', () => {
  for (let bits = 0; bits < 65536; bits++) {
    const x = fromFloat16(bits);
    if (!Number.isNaN(x) && toFloat16(x) !== bits) expect.fail(`${bits}`);
  }
});

test('between two float16 the nearer is taken, and of two as near the even one', () => {
  for (let bits = 0; bits < 0x7bff; bits++) {
    const [low, high] = [fromFloat16(bits), fromFloat16(bits + 1)];
    const middle = (low + high) / 2; // exact in float32
    const even = bits % 2 === 0 ? bits : bits + 1;
    if (toFloat16(middle) !== even) expect.fail(`in the middle after ${bits}`);
    const nudge = Math.fround((high - low) / 16);
    if (toFloat16(Math.fround(middle - nudge)) !== bits) expect.fail(`below the middle after ${bits}`);
    if (toFloat16(Math.fround(middle + nudge)) !== bits + 1) expect.fail(`above the middle after ${bits}`);
  }
});

test('what is too large for float16 is an infinity, from half way on', () => {
  expect(toFloat16(65519)).toBe(0x7bff);
  expect(toFloat16(65520)).toBe(0x7c00);
  expect(toFloat16(-1e30)).toBe(0xfc00);
  expect(toFloat16(2 ** -25)).toBe(0);
  expect(toFloat16(2 ** -25 * 1.5)).toBe(1);
  expect(toFloat16(2 ** -40)).toBe(0);
});

test('bfloat16 is the upper half of a float32, to the nearest, ties to even', () => {
  expect(fromBfloat16(0x3f80)).toBe(1);
  expect(fromBfloat16(0xc040)).toBe(-3);
  expect(fromBfloat16(0x0001)).toBe(2 ** -133);
  expect(toBfloat16(1)).toBe(0x3f80);
  expect(toBfloat16(-3)).toBe(0xc040);
  expect(toBfloat16(1 + 2 ** -8)).toBe(0x3f80); // a tie, to even
  expect(toBfloat16(1 + 3 * 2 ** -8)).toBe(0x3f82); // a tie, to even
  expect(toBfloat16(1 + 2 ** -8 + 2 ** -20)).toBe(0x3f81);
  expect(toBfloat16(-Infinity)).toBe(0xff80);
  expect(toBfloat16(3.4e38)).toBe(0x7f80); // beyond its largest, 3.3895e38
  for (const bits of [0x7fc00000, 0x7f800001, 0x7fffffff, 0xff800001]) {
    const nan = new Float32Array(Uint32Array.of(bits).buffer)[0]!;
    expect(toBfloat16(nan)).toBe(0x7fc0);
    expect(fromFloat16(toFloat16(nan))).toBeNaN();
  }
  expect(fromBfloat16(0x7fc0)).toBeNaN();
  for (let bits = 0; bits < 65536; bits++) {
    const x = fromBfloat16(bits);
    if (!Number.isNaN(x) && toBfloat16(x) !== bits) expect.fail(`${bits}`);
  }
});
