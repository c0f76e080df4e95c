/*
 * The parts of an ONNX model that the recorder writes, as protocol buffers. Field numbers and enums from
 * onnx.proto3 of ONNX 1.17 (IR version 10); https://onnx.ai/onnx/repo-docs/IR.html
 */
import { failure } from '../../schema/error.ts';
import { bytes, encode, float, int, message, type Part, packed, text } from './wire.ts';

/** Element types by the number ONNX gives them. */
export const ELEMENT = {
  float32: 1,
  uint8: 2,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  bfloat16: 16,
} as const;
export type ElementType = keyof typeof ELEMENT;

export type Attribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly floats: readonly number[] };

export interface NodeProto {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly domain: string;
}

/** A constant: its bytes, or where they lie in a file beside the model. */
export interface Initializer {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data: Uint8Array | { readonly file: string; readonly offset: number; readonly length: number };
}

export interface ValueInfo {
  readonly name: string;
  readonly type: ElementType;
  /** null: a dimension that differs from run to run. */
  readonly shape: readonly (number | null)[];
}

export interface Model {
  readonly nodes: readonly NodeProto[];
  readonly initializers: readonly Initializer[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
}

const IR_VERSION = 10;
export const OPSET = 21;
export const MICROSOFT = 'com.microsoft';
/** A protocol buffer ends before 2 GiB. */
const LARGEST = 2 ** 31 - 1;

/** @throws where the model would be larger than a protocol buffer can be */
export function encodeModel({ nodes, initializers, inputs, outputs }: Model): Uint8Array {
  const graph = [
    ...nodes.map((n) => message(1, node(n))),
    text(2, 'turnwise'),
    ...initializers.map((t) => message(5, tensor(t))),
    ...inputs.map((v) => message(11, valueInfo(v))),
    ...outputs.map((v) => message(12, valueInfo(v))),
  ];
  const parts = [
    int(1, IR_VERSION),
    message(7, graph),
    message(8, [text(1, ''), int(2, OPSET)]),
    message(8, [text(1, MICROSOFT), int(2, 1)]),
  ];
  const size = parts.reduce((total, p) => total + p.size, 0);
  if (size > LARGEST) {
    const held = initializers.map(({ data }) => (data instanceof Uint8Array ? data.byteLength : 0));
    const constants = held.reduce((a, b) => a + b, 0);
    throw failure({
      subject: 'graph',
      wrong: 'is too large for one model of ONNX Runtime',
      got: `${size} bytes, ${constants} of them constants`,
      expected: `at most ${LARGEST}`,
      fix: 'Leave frozen tensors in a file (freezeFile), or do not freeze the largest.',
    });
  }
  return encode(parts);
}

function node({ op, inputs, outputs, attributes, domain }: NodeProto): Part[] {
  return [
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => message(5, attribute(name, value))),
    text(7, domain),
  ];
}

function attribute(name: string, value: Attribute): Part[] {
  const [FLOAT, INT, STRING, FLOATS, INTS] = [1, 2, 3, 6, 7];
  const own = text(1, name);
  if (typeof value === 'number') return [own, int(3, value), int(20, INT)];
  if (typeof value === 'string') return [own, text(4, value), int(20, STRING)];
  if ('float' in value) return [own, float(2, value.float), int(20, FLOAT)];
  if ('floats' in value) return [own, ...value.floats.map((x) => float(7, x)), int(20, FLOATS)];
  return [own, packed(8, value), int(20, INTS)];
}

function tensor({ name, type, shape, data }: Initializer): Part[] {
  const head = [packed(1, shape), int(2, ELEMENT[type]), text(8, name)];
  if (data instanceof Uint8Array) return [...head, bytes(9, data)];
  const entry = (key: string, value: string) => message(13, [text(1, key), text(2, value)]);
  const { file, offset, length } = data;
  return [
    ...head,
    entry('location', file),
    entry('offset', `${offset}`),
    entry('length', `${length}`),
    int(14, 1),
  ];
}

function valueInfo({ name, type, shape }: ValueInfo): Part[] {
  const dims = shape.map((d) => message(1, d === null ? [] : [int(1, d)]));
  return [text(1, name), message(2, [message(1, [int(1, ELEMENT[type]), message(2, dims)])])];
}
