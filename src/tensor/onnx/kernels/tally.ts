/* How often each whole number occurs. */
import { sizeOf } from '../entry.ts';
import type { TensorInfo } from '../recorder.ts';
import { type Call, type Kernels, op } from './kernel.ts';

/** x[rows, n] and a weight for each → [rows, size]; numbers of size or more are in no bin. */
const TALLY = op('Bincount', (e, [x, weights], attrs, _node, self) => {
  const { rows, n, size, once } = attrs as { rows: number; n: number; size: number; once: boolean };
  // A column more takes what is too large, and is cut off; a negative number makes the run fail.
  const last = e.scalar(size, 'int32');
  const lost = e.node('Less', [x!, e.scalar(0, 'int32')]);
  const bin = e.node('Where', [lost, e.scalar(2 ** 31 - 1, 'int32'), e.node('Min', [x!, last])]);
  const type = self.dtype === 'bool' ? 'int32' : self.dtype;
  const each = weights === undefined ? e.scalar(1, type) : e.cast(weights, type);
  const updates = e.node('Expand', [
    weights === undefined ? each : e.node('Reshape', [each, e.ints([rows, n])]),
    e.ints([rows, n]),
  ]);
  const table = e.node('Expand', [e.scalar(0, type), e.ints([rows, size + 1])]);
  const own = e.node('Reshape', [bin, e.ints([rows, n])]);
  const reduction = once ? 'none' : 'add';
  const summed = e.node('ScatterElements', [table, own, updates], { axis: 1, reduction });
  const kept = e.node('Slice', [summed, e.ints([0]), e.ints([size]), e.ints([1])]);
  return e.cast(e.node('Reshape', [kept, e.ints(self.shape)]), self.dtype);
});

const tally = ({ inputs, attrs, backend }: Call, [rows, n]: readonly [number, number], out: number[]) => {
  const { x, weights } = inputs as { x: TensorInfo; weights: TensorInfo };
  if (backend.valueNow(x.dataId)?.some((value) => value < 0))
    throw new Error('Input x must be non-negative!');
  const once = attrs.binaryOutput === true;
  const weighted = sizeOf(weights.shape) > 0 && !once;
  const own = { rows, n, size: attrs.size, once };
  return backend.record(TALLY, weighted ? [x, weights] : [x], own, out, weights.dtype);
};

const total = (call: Call) => tally(call, [1, sizeOf(call.inputs.x!.shape)], [call.attrs.size]);

export const tallies: Kernels = {
  Bincount: total,
  /** One tally for each row of a matrix. */
  DenseBincount(call) {
    const { shape } = call.inputs.x!;
    const [rows, n] = shape as [number, number];
    return shape.length === 2 ? tally(call, [rows, n], [rows, call.attrs.size]) : total(call);
  },
};
