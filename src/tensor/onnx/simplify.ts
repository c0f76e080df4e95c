import type { Work } from './collect.ts';
import { type Entry, type Recorded, sizeOf } from './entry.ts';
import { broadcast } from './kernels/kernel.ts';

/** An operation as it is written into the graph. */
export interface Step {
  readonly entry: Entry;
  readonly node: Recorded;
}

/**
 * What is written of a work: a tensor that only repeats another along some dimensions is not made where the operation
 * that reads it would repeat it by itself, and what nobody reads any more is left out. By structure alone, so that
 * works of one key stay works of one graph. O(operations).
 */
export function simplify({ order, outputs }: Work): Step[] {
  const steps = order.flatMap((entry): Step[] =>
    entry.state.kind === 'recorded' ? [{ entry, node: narrow(entry, entry.state.node) }] : [],
  );
  const read = new Set<Entry>(outputs);
  for (let k = steps.length - 1; k >= 0; k--) {
    const { entry, node } = steps[k]!;
    if (read.has(entry)) for (const input of node.inputs) read.add(input);
  }
  return steps.filter(({ entry }) => read.has(entry));
}

function narrow(self: Entry, node: Recorded): Recorded {
  if (node.op.broadcasts !== true) return node;
  const inputs = [...node.inputs];
  inputs.forEach((input, k) => {
    const source = repeated(input);
    if (source === null) return;
    const others = inputs.filter((_, j) => j !== k).map(({ shape }) => shape);
    const shape = others.reduce(broadcast, source.shape as number[]);
    if (shape.length === self.shape.length && shape.every((d, at) => d === self.shape[at]))
      inputs[k] = source;
  });
  return { ...node, inputs };
}

/** What the tensor repeats, if it only repeats numbers along dimensions of size one. */
function repeated({ shape, state }: Entry): Entry | null {
  if (state.kind !== 'recorded' || state.node.op.repeats !== true) return null;
  const source = state.node.inputs[0]!;
  const ahead = shape.length - source.shape.length;
  if (sizeOf(source.shape) === 0 || ahead < 0) return null;
  return source.shape.every((d, k) => d === 1 || d === shape[k + ahead]) ? source : null;
}
