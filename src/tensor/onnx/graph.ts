import { parse, sep } from 'node:path';
import type { Work } from './collect.ts';
import { emitter } from './emitter.ts';
import type { DType, Entry, Values } from './entry.ts';
import { ELEMENT, type ElementType, encodeModel, type Initializer, type ValueInfo } from './model.ts';
import type { External, Runtime } from './runtime.ts';
import { simplify } from './simplify.ts';

/** An ONNX model and the names of what goes in and comes out. */
export interface Graph {
  readonly model: Uint8Array;
  readonly inputs: readonly { readonly name: string; readonly leaf: number }[];
  /** In the order of the work's outputs. */
  readonly outputs: readonly string[];
  /** Constants that stay in their files. */
  readonly externals: readonly External[];
}

/** Writes the recorded operations of a work as one model; `constant` are places among its leaves. */
export function writeGraph(
  work: Work,
  constant: ReadonlySet<number>,
  provider: Runtime['provider'] = 'cpu',
): Graph {
  const e = emitter(ELEMENT);
  const names = new Map<Entry, string>();
  const inputs: { name: string; leaf: number }[] = [];
  const values: ValueInfo[] = [];
  const externals: External[] = [];
  work.leaves.forEach((leaf, k) => {
    const name = leaf.frozen ? `f${leaf.id}` : `i${k}`;
    names.set(leaf, name);
    const info = { name, type: leaf.dtype, shape: leaf.shape };
    if (leaf.frozen) {
      const own = frozen(leaf, name, provider);
      e.graph.initializers.push(own);
      if (leaf.state.kind === 'file') externals.push({ name, place: leaf.state.place });
      if (own.type !== leaf.dtype) names.set(leaf, e.cast(name, leaf.dtype));
    } else if (constant.has(k)) names.set(leaf, e.constant(leaf.dtype, leaf.shape, valueBytes(leaf)));
    else {
      inputs.push({ name, leaf: k });
      values.push(info);
    }
  });
  for (const { entry, node } of simplify(work))
    names.set(
      entry,
      node.op.emit(
        e,
        node.inputs.map((input) => names.get(input)!),
        node,
        entry,
      ),
    );
  // An output is the result of a node of its own: emitting may have handed an input through.
  const outputs = work.outputs.map((entry) => e.node('Identity', [names.get(entry)!]));
  const model = encodeModel({
    nodes: e.graph.nodes,
    initializers: e.graph.initializers,
    inputs: values,
    outputs: work.outputs.map(({ dtype, shape }, k) => ({ name: outputs[k]!, type: dtype, shape })),
  });
  return { model, inputs, outputs, externals };
}

function valueBytes({ state }: Entry): Uint8Array {
  if (state.kind !== 'value') throw new Error('a constant has a value');
  return new Uint8Array(state.value.buffer, state.value.byteOffset, state.value.byteLength);
}

function frozen(leaf: Entry, name: string, provider: Runtime['provider']): Initializer {
  const { state, dtype, shape } = leaf;
  if (state.kind !== 'file') return { name, type: dtype, shape, data: valueBytes(leaf) };
  const { path, begin, end, dtype: own } = state.place;
  // Paths are read from the root; wasm reads no files and is handed the bytes of each under a name of its own.
  const inFile = { file: path.slice(parse(path).root.length).split(sep).join('/'), offset: begin };
  const place = provider === 'wasm' ? { file: name, offset: 0 } : inFile;
  return { name, type: IN_FILE[own], shape, data: { ...place, length: end - begin } };
}

const IN_FILE = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
  I32: 'int32',
} as const satisfies Record<string, ElementType>;

export function emptyValues(dtype: DType, size: number): Values {
  if (dtype === 'float32') return new Float32Array(size);
  return dtype === 'int32' ? new Int32Array(size) : new Uint8Array(size);
}
