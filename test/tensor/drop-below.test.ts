import { afterEach, expect, test } from 'vitest';
import { dropBelow } from '../../src/tensor/drop-below.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

test.each(['cpu', 'onnx', 'onnx-web'] as const)(
  'on %s: what is above stays to the bit, what is not is 0',
  async (backend) => {
    tensors = await openTensors({ backend, threads: 1 });
    const { tf } = tensors;
    const x = Float32Array.of(1, 1e-29, 1e-30, 1.0001e-30, 9e-31, 1e-38, 1e-45, 0, -1);
    const found = await dropBelow(tf, tf.tensor1d(x), 1e-30).data();
    const least = Math.fround(1e-30);
    expect([...found].map((y) => y + 0)).toEqual([...x].map((y) => (y > least ? y : 0)));
  },
);
