import type { FilePlace } from '../file-place.ts';
import type { Emitter } from './emitter.ts';
import type { Attribute } from './model.ts';

export type DType = 'float32' | 'int32' | 'bool';
export type Values = Float32Array | Int32Array | Uint8Array;

/** Attributes of a recorded operation: plain data, part of the key of a graph. */
export type Attrs = Readonly<Record<string, unknown>>;

/** One operation: how it is written into a graph. All it depends on is in the node, so that equal keys are equal graphs. */
export interface Op {
  readonly name: string;
  /** By element, on inputs that broadcast together. */
  readonly broadcasts?: boolean;
  /** The first input again and again along some dimensions. */
  readonly repeats?: boolean;
  emit(e: Emitter, inputs: readonly string[], node: Recorded, self: Entry): string;
}

/** An operation that has not been computed. */
export interface Recorded {
  readonly op: Op;
  readonly inputs: readonly Entry[];
  readonly attrs: Attrs;
}

/** What a tensor's data is: recorded, being computed, there, in a file (frozen then), or lost to an error. */
export type State =
  | { readonly kind: 'recorded'; readonly node: Recorded }
  | { readonly kind: 'running'; readonly done: Promise<void> }
  | { readonly kind: 'value'; readonly value: Values }
  | { readonly kind: 'file'; readonly place: FilePlace }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Entry {
  readonly id: number;
  readonly shape: readonly number[];
  readonly dtype: DType;
  state: State;
  /** References that TensorFlow.js holds; at 0 nobody can ask for the value any more. */
  refs: number;
  /** Given from outside, not computed. */
  readonly given: boolean;
  /** Bound to sessions as a constant: neither fed nor copied at each run. */
  readonly frozen: boolean;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
export const bytesOf = ({ dtype, shape }: Pick<Entry, 'dtype' | 'shape'>): number =>
  sizeOf(shape) * (dtype === 'bool' ? 1 : 4);

export type { Attribute };
