/* Every kernel against TensorFlow.js's own cpu backend, over random shapes, broadcasts, axes, empty and single dimensions. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nativeRuntime } from '../../src/tensor/onnx/load-runtime.ts';
import type { Recorder } from '../../src/tensor/onnx/recorder.ts';
import { registerRecorder } from '../../src/tensor/onnx/register.ts';
import {
  type Call,
  floats,
  type Given,
  masks,
  pairs,
  shapes,
  sizeOf,
  wholes,
  withAxes,
  withAxis,
} from './kernel-cases.ts';

let recorder: Recorder | null = null;
let missing = '';
beforeAll(async () => {
  tf.env().set('PROD', true);
  try {
    recorder = registerRecorder('onnx', await nativeRuntime('cpu', { threads: 1 }));
  } catch (error) {
    missing = String(error);
  }
});
afterAll(() => recorder?.close());

type Op = (t: typeof tf, x: readonly tf.Tensor[]) => tf.Tensor | tf.Tensor[];
const call = (label: string, given: readonly Given[], run: Op): Call => ({ label, given, run });
const of = (given: fc.Arbitrary<readonly Given[]>, run: Op, label = ''): fc.Arbitrary<Call> =>
  given.map((own) => call(label, own, run));
const unary = (run: (x: tf.Tensor) => tf.Tensor, lo = -3, hi = 3) =>
  of(
    shapes(0, 4)
      .chain((s) => floats(s, lo, hi))
      .map((x) => [x]),
    (_, [x]) => run(x!),
  );
const onWholes = (run: (x: tf.Tensor) => tf.Tensor) =>
  of(
    shapes(0, 3)
      .chain((s) => wholes(s))
      .map((x) => [x]),
    (_, [x]) => run(x!),
  );
const binary = (
  run: (a: tf.Tensor, b: tf.Tensor) => tf.Tensor,
  of2: (s: readonly number[]) => fc.Arbitrary<Given>,
) =>
  of(
    pairs.chain(([a, b]) => fc.tuple(of2(a), of2(b))),
    (_, [a, b]) => run(a!, b!),
  );
const floatPair = (run: (a: tf.Tensor, b: tf.Tensor) => tf.Tensor, lo = -3, hi = 3) =>
  binary(run, (s) => floats(s, lo, hi));
const wholePair = (run: (a: tf.Tensor, b: tf.Tensor) => tf.Tensor, lo = -9, hi = 9) =>
  binary(run, (s) => wholes(s, lo, hi));
const maskPair = (run: (a: tf.Tensor, b: tf.Tensor) => tf.Tensor) => binary(run, masks);
const reduced = (
  run: (x: tf.Tensor, axes: number[], keep: boolean) => tf.Tensor,
  least: 0 | 1,
  kind = floats,
) =>
  withAxes(least).chain(({ shape, axes, keep }) =>
    of(
      kind(shape).map((x) => [x]),
      (_, [x]) => run(x!, axes, keep),
      `axes ${axes} keep ${keep}`,
    ),
  );
const axis = (run: (x: tf.Tensor, axis: number) => tf.Tensor | tf.Tensor[], least = 0) =>
  withAxis
    .filter(({ shape }) => least === 0 || sizeOf(shape) > 0)
    .chain(({ shape, axis: at }) =>
      of(
        floats(shape).map((x) => [x]),
        (_, [x]) => run(x!, at),
        `axis ${at}`,
      ),
    );

const products = fc
  .record({
    m: fc.integer({ min: 0, max: 4 }),
    k: fc.integer({ min: 0, max: 4 }),
    n: fc.integer({ min: 0, max: 4 }),
    lead: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
    ones: fc.boolean(),
    ta: fc.boolean(),
    tb: fc.boolean(),
  })
  .chain(({ m, k, n, lead, ones, ta, tb }) => {
    const a = [...lead, ...(ta ? [k, m] : [m, k])];
    const b = [...(ones ? lead.map(() => 1) : lead), ...(tb ? [n, k] : [k, n])];
    return of(fc.tuple(floats(a), floats(b)), (t, [x, y]) => t.matMul(x!, y!, ta, tb), `${ta} ${tb}`);
  });

const gathered = fc
  .record({
    shape: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
    own: shapes(0, 2),
    at: fc.nat(2),
    batch: fc.boolean(),
  })
  .chain(({ shape, own, at, batch }) => {
    const where = at % shape.length;
    const dims = batch && shape.length > 1 ? 1 : 0;
    const axisAt = Math.max(where, dims);
    const indices = dims === 1 ? [shape[0]!, ...own] : own;
    return of(
      fc.tuple(floats(shape), wholes(indices, 0, shape[axisAt]! - 1)),
      (t, [x, i]) => t.gather(x!, i as tf.Tensor1D, axisAt, dims),
      `axis ${axisAt} batch ${dims}`,
    );
  });

const segments = fc
  .record({ rows: fc.integer({ min: 1, max: 6 }), rest: shapes(0, 2), count: fc.integer({ min: 1, max: 4 }) })
  .chain(({ rows, rest, count }) =>
    of(
      fc.tuple(floats([rows, ...rest]), wholes([rows], 0, count - 1)),
      (t, [x, ids]) => t.unsortedSegmentSum(x!, ids as tf.Tensor1D, count),
      `${count}`,
    ),
  );

const slices = shapes(1, 4).chain((shape) =>
  fc
    .tuple(
      ...shape.map((d) =>
        fc
          .integer({ min: 0, max: d })
          .chain((b) => fc.tuple(fc.constant(b), fc.integer({ min: 0, max: d - b }))),
      ),
    )
    .chain((cut) =>
      of(
        floats(shape).map((x) => [x]),
        (t, [x]) =>
          t.slice(
            x!,
            cut.map((c) => c[0]),
            cut.map((c) => c[1]),
          ),
        JSON.stringify(cut),
      ),
    ),
);
/** From one place to another, forwards or backwards, at least one of them taken. */
const run = (d: number) =>
  fc
    .integer({ min: 0, max: d - 1 })
    .chain((a) =>
      fc
        .integer({ min: a, max: d - 1 })
        .chain((b) =>
          fc
            .constantFrom(1, 2, -1, -2)
            .map((step) => (step > 0 ? [a, b + 1, step] : [b, a - 1 - (a === 0 ? d : 0), step])),
        ),
    );
const strided = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }).chain((shape) =>
  fc.tuple(...shape.map(run)).chain((own) =>
    of(
      floats(shape).map((x) => [x]),
      (t, [x]) =>
        t.stridedSlice(
          x!,
          own.map((o) => o[0]!),
          own.map((o) => o[1]!),
          own.map((o) => o[2]!),
        ),
      JSON.stringify(own),
    ),
  ),
);
const padded = (mode: 'constant' | 'reflect' | 'symmetric') =>
  fc
    .array(fc.integer({ min: mode === 'constant' ? 0 : 2, max: 4 }), { minLength: 1, maxLength: 3 })
    .chain((shape) =>
      fc
        .tuple(
          ...shape.map(() =>
            fc.tuple(fc.nat(mode === 'constant' ? 2 : 1), fc.nat(mode === 'constant' ? 2 : 1)),
          ),
        )
        .chain((own) =>
          of(
            floats(shape).map((x) => [x]),
            (t, [x]) => (mode === 'constant' ? t.pad(x!, own, 0.5) : t.mirrorPad(x!, own, mode)),
            JSON.stringify(own),
          ),
        ),
    );
const listed = (run: (t: typeof tf, all: tf.Tensor[]) => tf.Tensor, count = 3) =>
  shapes(1, 3).chain((shape) =>
    of(fc.array(floats(shape), { minLength: 1, maxLength: count }), (t, all) => run(t, [...all])),
  );

/** A shape, and one that it can be spread to. */
const wider = shapes(0, 4).chain((large) =>
  fc
    .record({ drop: fc.integer({ min: 0, max: large.length }), ones: fc.infiniteStream(fc.boolean()) })
    .map(({ drop, ones }) => {
      const small = large.slice(drop).map((d) => (ones.next().value ? 1 : d));
      return [small, large] as const;
    }),
);

const KERNELS: Readonly<Record<string, fc.Arbitrary<Call>>> = {
  Abs: unary(tf.abs),
  Acos: unary(tf.acos, -1, 1),
  Acosh: unary(tf.acosh, 1, 5),
  Asin: unary(tf.asin, -1, 1),
  Asinh: unary(tf.asinh),
  Atan: unary(tf.atan),
  Atanh: unary(tf.atanh, -0.9, 0.9),
  Ceil: unary(tf.ceil),
  Cos: unary(tf.cos),
  Cosh: unary(tf.cosh),
  Elu: unary(tf.elu),
  Erf: unary(tf.erf),
  Exp: unary(tf.exp),
  Expm1: unary(tf.expm1),
  Floor: unary(tf.floor),
  IsFinite: unary((x) => tf.isFinite(tf.div(1, x))),
  IsInf: unary((x) => tf.isInf(tf.div(1, x))),
  IsNan: unary((x) => tf.isNaN(tf.sqrt(x))),
  LeakyRelu: unary((x) => tf.leakyRelu(x, 0.3)),
  Log: unary(tf.log, 0.1, 9),
  Log1p: unary(tf.log1p, -0.9, 9),
  Neg: unary(tf.neg),
  Reciprocal: unary(tf.reciprocal),
  Relu: unary(tf.relu),
  Relu6: unary((x) => tf.relu6(x), -3, 9),
  Round: unary(tf.round),
  Rsqrt: unary(tf.rsqrt, 0.1, 9),
  Selu: unary(tf.selu),
  Sigmoid: unary(tf.sigmoid),
  Sign: unary(tf.sign),
  Sin: unary(tf.sin),
  Sinh: unary(tf.sinh),
  Softplus: unary(tf.softplus),
  Sqrt: unary(tf.sqrt, 0, 9),
  Square: unary(tf.square),
  Step: unary((x) => tf.step(x, 0.25)),
  Tan: unary(tf.tan, -1, 1),
  Tanh: unary(tf.tanh),
  ClipByValue: unary((x) => tf.clipByValue(x, -1, 0.5)),
  'Abs of whole numbers': onWholes(tf.abs),
  'Neg of whole numbers': onWholes(tf.neg),
  'Relu of whole numbers': onWholes(tf.relu),
  'Sign of whole numbers': onWholes(tf.sign),
  'Square of whole numbers': onWholes(tf.square),
  'Cast to whole numbers': unary((x) => tf.cast(x, 'int32')),
  'Cast to masks': unary((x) => tf.cast(x, 'bool')),
  'Cast of whole numbers': onWholes((x) => tf.cast(x, 'float32')),
  LogicalNot: of(
    shapes(0, 3)
      .chain(masks)
      .map((x) => [x]),
    (t, [x]) => t.logicalNot(x!),
  ),
  Add: floatPair(tf.add),
  Sub: floatPair(tf.sub),
  Multiply: floatPair(tf.mul),
  RealDiv: floatPair(tf.div, 0.25, 3),
  Maximum: floatPair(tf.maximum),
  Minimum: floatPair(tf.minimum),
  SquaredDifference: floatPair(tf.squaredDifference),
  Pow: floatPair(tf.pow, 0.1, 2),
  Mod: floatPair((a, b) => tf.mod(a, tf.add(b, 4))),
  Atan2: floatPair(tf.atan2),
  'Mod of both signs': floatPair((a, b) =>
    tf.mod(a, tf.where(tf.greaterEqual(b, 0), tf.add(b, 1), tf.sub(b, 1))),
  ),
  Prelu: of(
    shapes(1, 3).chain((s) => fc.tuple(floats(s), floats(s))),
    (t, [x, a]) => t.prelu(x!, a!),
  ),
  FloorDiv: wholePair((a, b) => tf.floorDiv(a, tf.where(tf.greaterEqual(b, 0), tf.add(b, 1), tf.sub(b, 1)))),
  'Add of whole numbers': wholePair(tf.add),
  'Multiply of whole numbers': wholePair(tf.mul),
  'Maximum of whole numbers': wholePair(tf.maximum),
  Equal: wholePair(tf.equal),
  NotEqual: wholePair(tf.notEqual),
  Greater: floatPair(tf.greater),
  GreaterEqual: floatPair(tf.greaterEqual),
  Less: wholePair(tf.less),
  LessEqual: floatPair(tf.lessEqual),
  LogicalAnd: maskPair(tf.logicalAnd),
  LogicalOr: maskPair(tf.logicalOr),
  LogicalXor: maskPair(tf.logicalXor),
  Select: pairs.chain(([a]) =>
    of(fc.tuple(masks(a), floats(a), floats(a)), (t, [c, x, y]) => t.where(c!, x!, y!)),
  ),
  Sum: reduced((x, axes, keep) => tf.sum(x, axes, keep), 0),
  Mean: reduced((x, axes, keep) => tf.mean(x, axes, keep), 1),
  Max: reduced((x, axes, keep) => tf.max(x, axes, keep), 1),
  Min: reduced((x, axes, keep) => tf.min(x, axes, keep), 1),
  Prod: reduced((x, axes, keep) => tf.prod(x, axes, keep), 1),
  'Sum of whole numbers': reduced((x, axes, keep) => tf.sum(x, axes, keep), 0, wholes),
  All: reduced((x, axes, keep) => tf.all(x, axes, keep), 1, masks),
  Any: reduced((x, axes, keep) => tf.any(x, axes, keep), 1, masks),
  LogSumExp: reduced((x, axes, keep) => tf.logSumExp(x, axes, keep), 1),
  ArgMax: axis((x, at) => tf.argMax(x, at), 1),
  ArgMin: axis((x, at) => tf.argMin(x, at), 1),
  Cumsum: axis((x, at) => tf.cumsum(x, at < 0 ? at + x.rank : at)),
  'Cumsum exclusive reverse': axis((x, at) => tf.cumsum(x, at < 0 ? at + x.rank : at, true, true)),
  Cumprod: axis((x, at) => tf.cumprod(x, at < 0 ? at + x.rank : at)),
  'Cumprod exclusive reverse': axis((x, at) => tf.cumprod(x, at < 0 ? at + x.rank : at, true, true)),
  Softmax: unary((x) => (x.rank === 0 ? tf.neg(x) : tf.softmax(x))),
  LogSoftmax: axis((x) => tf.logSoftmax(x), 1),
  Reverse: axis((x, at) => tf.reverse(x, at)),
  Unpack: axis((x, at) => tf.unstack(x, at)),
  SplitV: axis((x, at) => tf.split(x, [1, x.shape.at(at)! - 1], at), 1),
  ExpandDims: axis((x, at) => tf.expandDims(x, at)),
  Transpose: withAxes(0).chain(({ shape }) =>
    fc
      .shuffledSubarray(
        shape.map((_, k) => k),
        { minLength: shape.length },
      )
      .chain((perm) =>
        of(
          floats(shape).map((x) => [x]),
          (t, [x]) => t.transpose(x!, perm),
          `${perm}`,
        ),
      ),
  ),
  Slice: slices,
  StridedSlice: strided,
  PadV2: padded('constant'),
  'MirrorPad reflect': padded('reflect'),
  'MirrorPad symmetric': padded('symmetric'),
  Concat: listed((t, all) => t.concat(all, 0)),
  Pack: listed((t, all) => t.stack(all, 1)),
  AddN: listed((t, all) => t.addN(all)),
  Tile: shapes(1, 3).chain((s) =>
    of(
      floats(s).map((x) => [x]),
      (t, [x]) =>
        t.tile(
          x!,
          s.map((_, k) => k + 1),
        ),
    ),
  ),
  BroadcastTo: wider.chain(([small, large]) =>
    of(
      floats(small).map((x) => [x]),
      (t, [x]) => t.broadcastTo(x!, [...large]),
    ),
  ),
  BatchMatMul: products,
  GatherV2: gathered,
  UnsortedSegmentSum: segments,
  Einsum: of(fc.tuple(floats([2, 3, 4]), floats([2, 4, 5])), (t, [a, b]) => t.einsum('bij,bjk->bik', a!, b!)),
  OneHot: shapes(0, 2).chain((s) =>
    of(
      wholes(s, -1, 5).map((x) => [x]),
      (t, [x]) => t.oneHot(x!, 5, 2, -1),
    ),
  ),
  TopK: of(
    floats([3, 5])
      .filter((x) => new Set(x.values).size === 15)
      .map((x) => [x]),
    (t, [x]) => Object.values(t.topk(x!, 2)) as tf.Tensor[],
  ),
  GatherNd: of(fc.tuple(floats([3, 4, 2]), wholes([5, 2], 0, 2)), (t, [x, i]) => t.gatherND(x!, i!)),
  ScatterNd: of(fc.tuple(wholes([4, 1], 0, 4), floats([4, 2])), (t, [i, u]) => t.scatterND(i!, u!, [5, 2])),
  Diag: of(
    floats([3]).map((x) => [x]),
    (t, [x]) => t.diag(x!),
  ),
  BandPart: of(
    floats([2, 4, 4]).map((x) => [x]),
    (t, [x]) => t.linalg.bandPart(x!, 1, 2),
  ),
};

interface Result {
  readonly label: string;
  readonly values: readonly {
    readonly shape: readonly number[];
    readonly dtype: string;
    readonly data: ArrayLike<number>;
  }[];
}

/** The calls on one backend: all recorded, then all read. */
async function results(backend: string, calls: readonly Call[]): Promise<Result[]> {
  await tf.setBackend(backend);
  const found = calls.map(({ given, run }) => {
    const x = given.map((g) => tf.tensor(g.values as number[], [...g.shape], g.dtype));
    return [run(tf, x)].flat() as tf.Tensor[];
  });
  const out: Result[] = [];
  for (const [k, tensors] of found.entries()) {
    const values = [];
    for (const t of tensors) values.push({ shape: t.shape, dtype: t.dtype, data: await t.data() });
    out.push({ label: calls[k]!.label, values });
  }
  tf.disposeVariables();
  return out;
}

for (const [name, calls] of Object.entries(KERNELS))
  test(`${name} is what the cpu backend says`, async ({ skip }) => {
    if (recorder === null) skip(`skipped: ${missing}`);
    await fc.assert(
      fc.asyncProperty(fc.array(calls, { minLength: 12, maxLength: 12 }), async (some) => {
        const expected = await results('cpu', some);
        const found = await results('onnx', some);
        for (const [k, { values, label }] of expected.entries())
          values.forEach((want, j) => {
            const got = found[k]!.values[j]!;
            expect(got.shape, label).toEqual(want.shape);
            expect(got.dtype, label).toBe(want.dtype);
            for (let i = 0; i < want.data.length; i++) {
              const [a, b] = [got.data[i]!, want.data[i]!];
              const off = Object.is(a, b) || a === b ? 0 : Math.abs(a - b) / Math.max(1, Math.abs(b));
              expect(
                Number.isNaN(off) ? Infinity : off,
                `${label} ${some[k]!.given.map((g) => JSON.stringify(g))}: ${a}, expected ${b}`,
              ).toBeLessThanOrEqual(2e-6);
            }
          });
      }),
      { numRuns: 3 },
    );
  });
