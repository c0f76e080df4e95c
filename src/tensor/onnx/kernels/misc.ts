/* Sequences, diagonals, the largest values, normalised batches. */
import { sizeOf } from '../entry.ts';
import { emptyValues } from '../graph.ts';
import { dtypeOf, type TensorInfo } from '../recorder.ts';
import { choose, type Kernels, op } from './kernel.ts';

const DIAG = op('Diag', (e, [x], { n }, _node, self) => {
  const own = e.node('Reshape', [x!, e.ints([n as number, 1])]);
  const places = e.node('Range', [
    e.scalar(0, 'int32'),
    e.scalar(n as number, 'int32'),
    e.scalar(1, 'int32'),
  ]);
  const down = e.node('Unsqueeze', [places, e.ints([1])]);
  const hit = e.node('Equal', [down, e.node('Unsqueeze', [places, e.ints([0])])]);
  return e.node('Reshape', [choose(e, hit, own, e.scalar(0, self.dtype), self.dtype), e.ints(self.shape)]);
});

const topK = (output: 0 | 1) =>
  op(`TopK ${output}`, (e, [given], { k }, node) => {
    const mask = node.inputs[0]!.dtype === 'bool';
    const x = mask ? e.cast(given!, 'int32') : given!;
    // Sorted even where nobody asks: only then do the first of equals come first.
    const found = e.nodes('TopK', [x, e.ints([k as number])], 2, { axis: -1, largest: 1, sorted: 1 });
    if (output === 1) return e.cast(found[1]!, 'int32');
    return mask ? e.cast(found[0]!, 'bool') : found[0]!;
  });
const [TOP_VALUES, TOP_PLACES] = [topK(0), topK(1)];

const BATCH_NORM = op('FusedBatchNorm', (e, inputs, attrs) => {
  const { epsilon, hasScale, hasOffset } = attrs as {
    epsilon: number;
    hasScale: boolean;
    hasOffset: boolean;
  };
  const [x, mean, variance, ...rest] = inputs as string[];
  const spread = e.node('Sqrt', [e.node('Add', [variance!, e.scalar(epsilon, 'float32')])]);
  let out = e.node('Div', [e.node('Sub', [x!, mean!]), spread]);
  if (hasScale) out = e.node('Mul', [out, rest.shift()!]);
  return hasOffset ? e.node('Add', [out, rest.shift()!]) : out;
});

export const misc: Kernels = {
  Range({ attrs: { start, stop, step, dtype }, backend }) {
    const own = dtypeOf(dtype ?? 'float32', 'Range');
    const empty = start === stop || (start < stop && step < 0) || (stop < start && step > 1);
    const length = empty ? 0 : Math.abs(Math.ceil((stop - start) / step));
    const values = emptyValues(own, length);
    // A step of 1, the default, counts downwards where the stop is below.
    const by = stop < start && step === 1 ? -1 : step;
    for (let k = 0; k < length; k++) values[k] = start + k * by;
    return backend.value(values, [length], own);
  },
  LinSpace({ attrs: { start, stop, num }, backend }) {
    const step = (stop - start) / (num - 1);
    const values = new Float32Array(num);
    for (let k = 0; k < num; k++) values[k] = k === 0 ? start : values[k - 1]! + step;
    return backend.value(values, [num], 'float32');
  },
  Diag({ inputs, backend }) {
    const x = inputs.x!;
    return backend.record(DIAG, [x], { n: sizeOf(x.shape) }, [...x.shape, ...x.shape], x.dtype);
  },
  TopK({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const own = { k: attrs.k };
    const out = [...x.shape.slice(0, -1), attrs.k];
    return [
      backend.record(TOP_VALUES, [x], own, out, x.dtype),
      backend.record(TOP_PLACES, [x], own, out, 'int32'),
    ];
  },
  FusedBatchNorm({ inputs, attrs, backend }) {
    const { x, mean, variance, scale, offset } = inputs as Record<string, TensorInfo>;
    const own = {
      epsilon: attrs.varianceEpsilon ?? 0.001,
      hasScale: scale != null,
      hasOffset: offset != null,
    };
    const all = [x, mean, variance, scale, offset].filter((t): t is TensorInfo => t != null);
    return backend.record(BATCH_NORM, all, own, x!.shape, 'float32');
  },
};
