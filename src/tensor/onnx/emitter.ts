import type { DType } from './entry.ts';
import { type Attribute, type ElementType, type Initializer, MICROSOFT, type NodeProto } from './model.ts';

/** Collects the nodes and constants of one graph; every method returns the name of what it made. */
export interface Emitter {
  /** A node with one output. */
  node(
    op: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, Attribute>>,
    domain?: string,
  ): string;
  /** A node with several. */
  nodes(
    op: string,
    inputs: readonly string[],
    outputs: number,
    attributes?: Readonly<Record<string, Attribute>>,
  ): string[];
  /** A list of int64, as shapes, axes and indices of ONNX are. */
  ints(values: readonly number[]): string;
  scalar(value: number, type: DType | 'int64'): string;
  /** Equal ones are written once. */
  constant(type: ElementType, shape: readonly number[], data: Uint8Array): string;
  cast(input: string, type: ElementType): string;
  readonly graph: { readonly nodes: NodeProto[]; readonly initializers: Initializer[] };
}

export function emitter(elements: Readonly<Record<ElementType, number>>): Emitter {
  const graph = { nodes: [] as NodeProto[], initializers: [] as Initializer[] };
  const constants = new Map<string, string>();
  let count = 0;
  const fresh = (): string => `x${count++}`;
  const constant = (type: ElementType, shape: readonly number[], data: Uint8Array): string => {
    const key = `${type} ${shape} ${Buffer.from(data).toString('base64')}`;
    let name = constants.get(key);
    if (name === undefined) {
      name = `c${constants.size}`;
      constants.set(key, name);
      graph.initializers.push({ name, type, shape, data });
    }
    return name;
  };
  const nodes: Emitter['nodes'] = (op, inputs, outputs, attributes = {}) => {
    const names = Array.from({ length: outputs }, fresh);
    graph.nodes.push({ op, inputs, outputs: names, attributes, domain: '' });
    return names;
  };
  return {
    graph,
    nodes,
    constant,
    node(op, inputs, attributes = {}, domain = '') {
      const output = fresh();
      graph.nodes.push({ op, inputs, outputs: [output], attributes, domain });
      return output;
    },
    ints: (values) => constant('int64', [values.length], bytesOf(BigInt64Array.from(values, BigInt))),
    scalar: (value, type) => constant(type, [], scalarBytes(value, type)),
    cast(input, type) {
      const output = fresh();
      const attributes = { to: elements[type] };
      graph.nodes.push({ op: 'Cast', inputs: [input], outputs: [output], attributes, domain: '' });
      return output;
    },
  };
}

const bytesOf = (x: ArrayBufferView): Uint8Array => new Uint8Array(x.buffer, x.byteOffset, x.byteLength);

function scalarBytes(value: number, type: DType | 'int64'): Uint8Array {
  if (type === 'float32') return bytesOf(Float32Array.of(value));
  if (type === 'int32') return bytesOf(Int32Array.of(value));
  if (type === 'int64') return bytesOf(BigInt64Array.of(BigInt(value)));
  return Uint8Array.of(value);
}

export { MICROSOFT };
