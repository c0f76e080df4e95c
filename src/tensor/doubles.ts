/*
 * Products of matrices of doubles through ONNX Runtime. TensorFlow.js has float32 alone; normal equations of a
 * ridge regression need more digits. Solves of the small systems that come of it stay with ml-matrix.
 *
 *   gram      XᵀX = Σ over blocks of rows of [A B]ᵀ[A B], of which AᵀA, AᵀB and BᵀB are computed: ¾ of the work
 *   product   A B
 *
 * Three graphs for all sizes. Float64 in and out, row by row.
 */
import { failure } from '../schema/error.ts';
import { checkThreads } from './check-threads.ts';
import { nativeRuntime, type RuntimeSettings, wasmRuntime } from './onnx/load-runtime.ts';
import { encodeModel, type NodeProto } from './onnx/model.ts';
import type { Runtime, Session } from './onnx/runtime.ts';

export interface Doubles {
  /** `onnxruntime-node 1.30.0, cpu, 2 threads` */
  readonly label: string;
  /** XᵀX [columns × columns], symmetric to the bit, of X [rows × columns], not to be written to meanwhile. O(rows · columns²). */
  gram(x: Float64Array, rows: number, columns: number): Promise<Float64Array>;
  /** A B [m × n] of A [m × k] and B [k × n]. O(m k n). */
  product(a: Float64Array, b: Float64Array, m: number, k: number, n: number): Promise<Float64Array>;
  close(): Promise<void>;
}

/** Rows of a block: 8,192 of 256 columns are 16 MB, and stay in the cache between the three products. */
const BLOCK = 8192;
/** Below this many columns halves of them are no products to speak of. */
const HALVED = 64;

/** onnxruntime-node where it loads, else onnxruntime-web. */
export async function openDoubles(settings: RuntimeSettings = {}): Promise<Doubles> {
  checkThreads(settings.threads);
  const runtime = await nativeRuntime('cpu', settings).catch(() => wasmRuntime(settings));
  const [whole, halves, plain] = await Promise.all([
    compile(runtime, ['a'], ['all'], [gemm(['a', 'a'], 'all', 1)]),
    compile(
      runtime,
      ['a'],
      ['ll', 'lr', 'rr'],
      [HALVES, gemm(['l', 'l'], 'll', 1), gemm(['l', 'r'], 'lr', 1), gemm(['r', 'r'], 'rr', 1)],
    ),
    compile(runtime, ['a', 'b'], ['ab'], [gemm(['a', 'b'], 'ab', 0)]),
  ]);
  let closing: Promise<void> | null = null;
  const running = new Set<Promise<unknown>>();
  /** Closed, it refuses; closing waits for what runs. */
  const run = async (session: Session, feeds: Parameters<Session['run']>[0]) => {
    if (closing !== null)
      throw failure({ subject: 'doubles', wrong: 'have been closed', fix: 'Open them again.' });
    const own = session.run(feeds);
    running.add(own);
    try {
      return await own;
    } finally {
      running.delete(own);
    }
  };
  const close = async () => {
    await Promise.allSettled(running);
    await Promise.all([whole, halves, plain].map((session) => session.release()));
  };
  return {
    label: runtime.label,
    async gram(x, rows, columns) {
      check('X', x, rows, columns);
      const sum = new Float64Array(columns * columns);
      const left = Math.ceil(columns / 2);
      const [session, places] =
        columns < HALVED
          ? [whole, { all: [0, 0, columns] }]
          : [halves, { ll: [0, 0, left], lr: [0, left, columns - left], rr: [left, left, columns - left] }];
      for (let from = 0; from < rows && columns > 0; from += BLOCK) {
        const to = Math.min(rows, from + BLOCK);
        const found = await run(session, {
          a: feed(x.subarray(from * columns, to * columns), to - from, columns),
        });
        for (const [name, [i, j, width]] of Object.entries(places) as [string, [number, number, number]][])
          add(sum, columns, found[name] as Float64Array, i, j, width);
      }
      for (let i = 0; i < columns; i++)
        for (let j = 0; j < i; j++) sum[i * columns + j] = sum[j * columns + i]!;
      return sum;
    },
    async product(a, b, m, k, n) {
      check('A', a, m, k);
      check('B', b, k, n);
      if (m === 0 || k === 0 || n === 0) return new Float64Array(m * n);
      const { ab } = await run(plain, { a: feed(a, m, k), b: feed(b, k, n) });
      return ab as Float64Array;
    },
    close: () => (closing ??= close()),
  };
}

const feed = (value: Float64Array, rows: number, columns: number) =>
  ({ dtype: 'float64', value, shape: [rows, columns] }) as const;

/** Adds a part of so many columns to a matrix of n columns, from its row i and column j on. */
function add(sum: Float64Array, n: number, part: Float64Array, i: number, j: number, width: number): void {
  for (let row = 0, k = 0; k < part.length; row++)
    for (let at = (i + row) * n + j, column = 0; column < width; column++) sum[at++]! += part[k++]!;
}

const gemm = (inputs: readonly string[], output: string, transA: 0 | 1): NodeProto => ({
  op: 'Gemm',
  inputs,
  outputs: [output],
  attributes: { transA },
  domain: '',
});

/** The left half of the columns, the larger one if they are odd, and the right. */
const HALVES: NodeProto = {
  op: 'Split',
  inputs: ['a'],
  outputs: ['l', 'r'],
  attributes: { axis: 1, num_outputs: 2 },
  domain: '',
};

function compile(
  runtime: Runtime,
  inputs: readonly string[],
  outputs: readonly string[],
  nodes: readonly NodeProto[],
): Promise<Session> {
  const matrix = (name: string) => ({ name, type: 'float64', shape: [null, null] }) as const;
  const model = { nodes, initializers: [], inputs: inputs.map(matrix), outputs: outputs.map(matrix) };
  return runtime.compile(encodeModel(model));
}

function check(name: string, x: Float64Array, rows: number, columns: number): void {
  if (!(x instanceof Float64Array))
    throw failure({
      subject: `matrix ${name}`,
      wrong: 'holds no doubles',
      got: Object.prototype.toString.call(x).slice(8, -1),
      expected: 'Float64Array',
    });
  if (![rows, columns].every((n) => Number.isSafeInteger(n) && n >= 0) || x.length !== rows * columns)
    throw failure({
      subject: `matrix ${name}`,
      wrong: 'holds another number of values',
      got: x.length,
      expected: `${rows} × ${columns}`,
    });
}
