/*
 * Products of matrices of doubles through ONNX Runtime. TensorFlow.js has float32 alone; normal equations of a
 * ridge regression need more digits. Solves of the small systems that come of it stay with ml-matrix.
 *
 *   gram      XᵀX        Gemm with the first operand turned
 *   product   A B
 *
 * One graph for every size. Float64 in and out, row by row.
 */
import { nativeRuntime, type RuntimeSettings, wasmRuntime } from './onnx/load-runtime.ts';
import { encodeModel } from './onnx/model.ts';
import type { Runtime, Session } from './onnx/runtime.ts';

export interface Doubles {
  /** `onnxruntime-node 1.30.0, cpu, 2 threads` */
  readonly label: string;
  /** XᵀX [columns × columns] of X [rows × columns]. O(rows · columns²). */
  gram(x: Float64Array, rows: number, columns: number): Promise<Float64Array>;
  /** A B [m × n] of A [m × k] and B [k × n]. O(m k n). */
  product(a: Float64Array, b: Float64Array, m: number, k: number, n: number): Promise<Float64Array>;
  close(): Promise<void>;
}

/** onnxruntime-node where it loads, else onnxruntime-web. */
export async function openDoubles(settings: RuntimeSettings = {}): Promise<Doubles> {
  const runtime = await nativeRuntime('cpu', settings).catch(() => wasmRuntime(settings));
  const turned = await gemm(runtime, 1);
  const plain = await gemm(runtime, 0);
  const run = async (
    session: Session,
    a: Float64Array,
    b: Float64Array,
    m: number,
    k: number,
    n: number,
    shape: [number, number],
  ) => {
    check('A', a, m, k);
    check('B', b, k, n);
    const feed = (value: Float64Array, own: readonly number[]) =>
      ({ dtype: 'float64', value, shape: own }) as const;
    const { c } = await session.run({ a: feed(a, shape), b: feed(b, [k, n]) });
    return c as Float64Array;
  };
  return {
    label: runtime.label,
    gram: (x, rows, columns) => run(turned, x, x, columns, rows, columns, [rows, columns]),
    product: (a, b, m, k, n) => run(plain, a, b, m, k, n, [m, k]),
    close: async () => {
      await turned.release();
      await plain.release();
    },
  };
}

function gemm(runtime: Runtime, transA: 0 | 1): Promise<Session> {
  const matrix = (name: string) => ({ name, type: 'float64', shape: [null, null] }) as const;
  const node = { op: 'Gemm', inputs: ['a', 'b'], outputs: ['c'], attributes: { transA }, domain: '' };
  return runtime.compile(
    encodeModel({
      nodes: [node],
      initializers: [],
      inputs: [matrix('a'), matrix('b')],
      outputs: [matrix('c')],
    }),
  );
}

function check(name: string, x: Float64Array, rows: number, columns: number): void {
  if (x.length !== rows * columns)
    throw new RangeError(
      `${name}: holds another number of values, got ${x.length}, expected ${rows} × ${columns}`,
    );
}
