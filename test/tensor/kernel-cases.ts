import type * as TF from '@tensorflow/tfjs';
import fc from 'fast-check';

type Tf = typeof TF;

/** A tensor to be made on whichever backend is current. */
export interface Given {
  readonly shape: readonly number[];
  readonly dtype: 'float32' | 'int32' | 'bool';
  readonly values: readonly number[];
}

/** One call: its tensors, and what it does with them. */
export interface Call {
  readonly label: string;
  readonly given: readonly Given[];
  run(tf: Tf, x: readonly TF.Tensor[]): TF.Tensor | TF.Tensor[];
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const dim = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 2, max: 4 }) },
  fc.constant(1),
  fc.constant(0),
);
export const shapes = (minLength: number, maxLength: number) => fc.array(dim, { minLength, maxLength });

/** Values that float32 holds exactly, away from ties and kinks as well as on them. */
const number = (lo: number, hi: number) =>
  fc.integer({ min: Math.ceil(lo * 64), max: Math.floor(hi * 64) }).map((k) => k / 64);
const valuesOf = (size: number, value: fc.Arbitrary<number>) =>
  fc.array(value, { minLength: size, maxLength: size });
export const floats = (shape: readonly number[], lo = -3, hi = 3): fc.Arbitrary<Given> =>
  valuesOf(sizeOf(shape), number(lo, hi)).map((values) => ({ shape, dtype: 'float32', values }));
export const wholes = (shape: readonly number[], lo = -9, hi = 9): fc.Arbitrary<Given> =>
  valuesOf(sizeOf(shape), fc.integer({ min: lo, max: hi })).map((values) => ({
    shape,
    dtype: 'int32',
    values,
  }));
export const masks = (shape: readonly number[]): fc.Arbitrary<Given> =>
  valuesOf(sizeOf(shape), fc.integer({ min: 0, max: 1 })).map((values) => ({ shape, dtype: 'bool', values }));

/** Two shapes that broadcast: some dimensions 1 in one of them, the first ones left out. */
export const pairs = shapes(0, 4).chain((shape) =>
  fc
    .record({
      ones: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: shape.length, maxLength: shape.length }),
      drop: fc.integer({ min: 0, max: shape.length }),
      left: fc.boolean(),
    })
    .map(({ ones, drop, left }) => {
      const other = shape.map((d, k) => (ones[k] === 0 ? 1 : d)).slice(drop);
      return left ? ([other, shape] as const) : ([shape, other] as const);
    }),
);

/** A shape, and one of its axes. */
export const withAxis = shapes(1, 4).chain((shape) =>
  fc.integer({ min: -shape.length, max: shape.length - 1 }).map((axis) => ({ shape, axis })),
);
/** A shape without empty dimensions, and some of its axes. */
export const withAxes = (least: 0 | 1) =>
  fc.array(fc.integer({ min: least, max: 4 }), { minLength: 0, maxLength: 4 }).chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      axes: fc.subarray(shape.map((_, k) => k)),
      keep: fc.boolean(),
    }),
  );
