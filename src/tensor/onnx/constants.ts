import type { Work } from './collect.ts';
import type { State } from './entry.ts';

/** Which scalars of a work are written into its graph, and the key of that graph. */
export interface Plan {
  readonly key: string;
  /** Places among the leaves. */
  readonly constant: ReadonlySet<number>;
}

interface Known {
  readonly values: readonly number[];
  readonly varies: boolean[];
}

/**
 * A number given from outside (the 2 of 2x, a scale, a rate) is at each step a new tensor and nearly always the same
 * number. As a constant of the graph ONNX Runtime folds it into its neighbours; as an input it is a pass of its own.
 * So each (of rank 0) is taken for a constant until it is seen to differ, and fed from then on: one graph more, not one
 * a step. Who knows that a number will differ gives it as a list of one.
 */
export function constants(most: number): (work: Work) => Plan {
  const seen = new Map<string, Known>();
  return (work) => {
    const now = work.scalars.map((k) => (work.leaves[k]!.state as State & { kind: 'value' }).value[0]!);
    const known = seen.get(work.key) ?? { values: now, varies: now.map(() => false) };
    seen.delete(work.key);
    seen.set(work.key, known); // the youngest
    if (seen.size > most) seen.delete(seen.keys().next().value!);
    let key = work.key;
    const constant = new Set<number>();
    now.forEach((value, k) => {
      if (!Object.is(value, known.values[k])) known.varies[k] = true;
      if (known.varies[k]) return;
      constant.add(work.scalars[k]!);
      key += `=${Object.is(value, -0) ? '-0' : value}`;
    });
    return { key: `${key}|${known.varies.map(Number).join('')}`, constant };
  };
}
