import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Doubles, openDoubles } from '../../src/tensor/doubles.ts';
import { draws } from './by-hand.ts';

let doubles: Doubles;
beforeAll(async () => {
  doubles = await openDoubles({ threads: 2 });
});
afterAll(() => doubles.close());

/** Whole numbers up to 2²⁰: their products and sums are exact in float64, so that every order of adding gives the same. */
const wholes = (seed: number, size: number): Float64Array =>
  Float64Array.from(draws(seed, 1, size, 2 ** 18)[0]!, Math.round);

function byHand(a: Float64Array, b: Float64Array, m: number, k: number, n: number): Float64Array {
  const c = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let l = 0; l < k; l++) for (let j = 0; j < n; j++) c[i * n + j]! += a[i * k + l]! * b[l * n + j]!;
  return c;
}
const turned = (x: Float64Array, rows: number, columns: number): Float64Array =>
  Float64Array.from(x, (_, k) => x[(k % rows) * columns + Math.floor(k / rows)]!);

test('A B and XᵀX of whole numbers, exactly, empty ones too', async () => {
  const size = fc.integer({ min: 0, max: 9 });
  const law = fc.asyncProperty(size, size, size, fc.nat(1e6), async (m, k, n, seed) => {
    const [a, b] = [wholes(seed, m * k), wholes(seed + 1, k * n)];
    expect(await doubles.product(a, b, m, k, n)).toEqual(byHand(a, b, m, k, n));
    expect(await doubles.gram(a, m, k)).toEqual(byHand(turned(a, m, k), a, k, m, k));
  });
  await fc.assert(law, { numRuns: 60 });
});

// Halves of the columns from 64 on, blocks of 8,192 rows; an odd number of columns has a larger left half.
test.each([
  [5, 63],
  [5, 64],
  [3, 97],
  [8192, 2],
  [8193, 3],
  [16_500, 65],
])('XᵀX of %i × %i, exactly', async (rows, columns) => {
  const x = wholes(rows, rows * columns);
  expect(await doubles.gram(x, rows, columns)).toEqual(
    byHand(turned(x, rows, columns), x, columns, rows, columns),
  );
});

test('doubles keep their digits, and XᵀX is symmetric to the bit', async () => {
  const x = Float64Array.of(1, 2 ** -40);
  expect([...(await doubles.gram(x, 1, 2))]).toEqual([1, 2 ** -40, 2 ** -40, 2 ** -80]);
  const y = Float64Array.from(draws(3, 1, 9000 * 70, 1)[0]!);
  const g = await doubles.gram(y, 9000, 70);
  expect(g).toEqual(turned(g, 70, 70));
});

test('what is not a number stays visible; another number of values is refused', async () => {
  expect((await doubles.gram(Float64Array.of(1, Number.NaN), 1, 2))[1]).toBeNaN();
  await expect(doubles.gram(new Float64Array(5), 2, 3)).rejects.toThrow(
    'matrix X: holds another number of values, got 5, expected 2 × 3',
  );
  await expect(doubles.gram(new Float32Array(6) as never, 2, 3)).rejects.toThrow(
    'matrix X: holds no doubles, got Float32Array, expected Float64Array',
  );
  await expect(doubles.product(new Float64Array(2), new Float64Array(3), 1, 2, 2)).rejects.toThrow(
    'matrix B',
  );
});

test('onnxruntime-web does the same where onnxruntime-node does not load', async () => {
  vi.doMock('onnxruntime-node', () => {
    throw new Error('not here');
  });
  vi.resetModules();
  const { openDoubles: openAnew } = await import('../../src/tensor/doubles.ts');
  const web = await openAnew({ threads: 2 });
  try {
    expect(web.label).toMatch(/^onnxruntime-web/);
    const x = wholes(7, 300 * 70);
    expect(await web.gram(x, 300, 70)).toEqual(byHand(turned(x, 300, 70), x, 70, 300, 70));
  } finally {
    await web.close();
    vi.doUnmock('onnxruntime-node');
  }
});

test('closing waits for what runs, is done once, and refuses what comes after', async () => {
  const own = await openDoubles({ threads: 1 });
  const x = wholes(1, 70 * 5000);
  const running = own.product(x, x, 70, 5000, 70);
  await Promise.all([own.close(), own.close()]);
  expect(await running).toEqual(byHand(x, x, 70, 5000, 70));
  await expect(own.product(x, x, 70, 5000, 70)).rejects.toThrow('doubles: have been closed');
  await expect(openDoubles({ threads: 0 })).rejects.toThrow(
    'threads: are out of range, got 0, expected a whole number from 1 to 256',
  );
  await expect(doubles.gram(new Float64Array(6), -2, -3)).rejects.toThrow(
    'matrix X: holds another number of values',
  );
});
