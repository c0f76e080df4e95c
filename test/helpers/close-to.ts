import { expect } from 'vitest';

/**
 * Expects the same record, numbers within a tolerance relative to the larger of 1 and their size. Texts must be
 * the same but for the numbers in them.
 */
export function closeTo(actual: unknown, expected: unknown, tolerance: number, path = 'result'): void {
  if (typeof expected === 'number' && typeof actual === 'number') {
    if (Object.is(actual, expected)) return;
    const scale = Math.max(1, Math.abs(expected));
    expect(Math.abs(actual - expected) / scale, `${path}: ${actual} for ${expected}`).toBeLessThanOrEqual(
      tolerance,
    );
    return;
  }
  if (typeof expected === 'string' && typeof actual === 'string') {
    expect(actual.replace(NUMBER, '#'), path).toBe(expected.replace(NUMBER, '#'));
    return;
  }
  if (Array.isArray(expected)) {
    expect(
      Array.isArray(actual) && actual.length,
      `${path}: ${JSON.stringify(actual)} for ${JSON.stringify(expected)}`,
    ).toBe(expected.length);
    expected.forEach((x, i) => {
      closeTo((actual as unknown[])[i], x, tolerance, `${path}[${i}]`);
    });
    return;
  }
  if (expected !== null && typeof expected === 'object') {
    expect(Object.keys(actual as object).sort(), path).toEqual(Object.keys(expected).sort());
    for (const [key, x] of Object.entries(expected))
      closeTo((actual as Record<string, unknown>)[key], x, tolerance, `${path}.${key}`);
    return;
  }
  expect(actual, path).toEqual(expected);
}

const NUMBER = /-?\d+(\.\d+)?(e[-+]?\d+)?/g;
