import { encodeModel } from './onnx/model.ts';

/** The smallest graph there is, to see whether a runtime computes at all: b = a, one float32. */
export function identityModel(): Uint8Array {
  const one = (name: string) => ({ name, type: 'float32', shape: [1] }) as const;
  return encodeModel({
    nodes: [{ op: 'Identity', inputs: ['a'], outputs: ['b'], attributes: {}, domain: '' }],
    initializers: [],
    inputs: [one('a')],
    outputs: [one('b')],
  });
}
