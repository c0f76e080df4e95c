import type { Attrs, Entry } from './entry.ts';

/** What has to run so that some entries have a value. */
export interface Work {
  /** Recorded entries, each after its inputs. */
  readonly order: readonly Entry[];
  /** Entries with a value that they read: fed, or frozen. */
  readonly leaves: readonly Entry[];
  readonly outputs: readonly Entry[];
  /** Places among the leaves of single numbers given from outside: constants as long as they stay the same. */
  readonly scalars: readonly number[];
  /** Entries on their way in another run: to be waited for first. */
  readonly running: readonly Promise<void>[];
  /** Two works of one key are computed by the same graph. */
  readonly key: string;
}

/** Walks back from the outputs without recursion: graphs are thousands of operations deep. O(operations). */
export function collect(outputs: readonly Entry[]): Work {
  const name = new Map<Entry, string>();
  const order: Entry[] = [];
  const leaves: Entry[] = [];
  const running: Promise<void>[] = [];
  const stack: Entry[] = [];
  const next: number[] = [];
  const enter = (entry: Entry): void => {
    if (name.has(entry)) return;
    const { state } = entry;
    if (state.kind === 'failed') throw state.error;
    if (state.kind === 'recorded') {
      name.set(entry, '');
      stack.push(entry);
      next.push(0);
      return;
    }
    if (state.kind === 'running') running.push(state.done);
    name.set(entry, entry.frozen ? `f${entry.id}` : `i${leaves.length}`);
    leaves.push(entry);
  };
  for (const root of outputs) {
    enter(root);
    while (stack.length > 0) {
      const entry = stack.at(-1)!;
      const inputs = entry.state.kind === 'recorded' ? entry.state.node.inputs : [];
      const at = next[next.length - 1]!;
      if (at < inputs.length) {
        next[next.length - 1] = at + 1;
        enter(inputs[at]!);
        continue;
      }
      stack.pop();
      next.pop();
      name.set(entry, `t${order.length}`);
      order.push(entry);
    }
  }
  const scalars = leaves.flatMap((leaf, k) => (isScalar(leaf) ? [k] : []));
  return { order, leaves, outputs, scalars, running, key: keyOf(order, leaves, outputs, name) };
}

const isScalar = ({ given, frozen, shape, state }: Entry): boolean =>
  given && !frozen && state.kind === 'value' && shape.length === 0;

function keyOf(
  order: readonly Entry[],
  leaves: readonly Entry[],
  outputs: readonly Entry[],
  name: ReadonlyMap<Entry, string>,
): string {
  let key = '';
  for (const leaf of leaves)
    key += `${name.get(leaf)}${isScalar(leaf) ? 's' : ''}${leaf.dtype[0]}${leaf.shape};`;
  for (const { state, shape, dtype } of order) {
    if (state.kind !== 'recorded') continue;
    const { op, inputs, attrs } = state.node;
    key += `${op.name}(`;
    for (const input of inputs) key += `${name.get(input)},`;
    key += `)${attrsKey(attrs)}${dtype[0]}${shape};`;
  }
  for (const output of outputs) key += `>${name.get(output)}`;
  return key;
}

/** Unlike JSON, which writes ∞, −∞ and what is not a number as null, and −0 as 0. */
function attrsKey(attrs: Attrs): string {
  let key = '';
  for (const name in attrs) {
    const value = attrs[name];
    const own =
      typeof value === 'number' ? (Object.is(value, -0) ? '-0' : `${value}`) : JSON.stringify(value);
    key += `${name}:${own},`;
  }
  return key;
}
