import type { SparseRows } from './sparse.ts';
import { endRow, finishRows, pushEntry, sparseBuilder } from './sparse-builder.ts';
import type { Trajectories } from './trajectories.ts';

const ACTION = /^(class|tool)=/;

/**
 * Appends to the state what the episode did before the turn: how often it took each action
 * (`n_class=…`, `n_tool=…`) and the class of the turn before (`last_class=…`). Without these V̂(s′) cannot
 * tell what an action did, unless the observation says so, and all credit falls on later turns.
 * O(turns × actions).
 * @param actions columns `class=…` and `tool=…` are counted, the others are not
 */
export function withActionHistory(t: Trajectories, states: SparseRows, actions: SparseRows): SparseRows {
  const counted = [...actions.names.keys()].filter((j) => ACTION.test(actions.names[j]!));
  const classes = counted.filter((j) => actions.names[j]!.startsWith('class='));
  const place = new Int32Array(actions.columns).fill(-1);
  counted.forEach((j, k) => {
    place[j] = k;
  });
  const lastPlace = new Int32Array(actions.columns).fill(-1);
  classes.forEach((j, k) => {
    lastPlace[j] = k;
  });
  const starts = new Uint8Array(states.rows + 1);
  for (const s of t.episodeOffsets) starts[s] = 1;
  const counts = new Float64Array(counted.length);
  const out = sparseBuilder(states.rows);
  for (let s = 0; s < states.rows; s++) {
    if (starts[s] === 1) counts.fill(0);
    for (let k = states.offsets[s]!; k < states.offsets[s + 1]!; k++)
      pushEntry(out, states.indices[k]!, states.values[k]!);
    counts.forEach((n, k) => {
      if (n > 0) pushEntry(out, states.columns + k, n);
    });
    if (starts[s] === 0)
      for (let k = actions.offsets[s - 1]!; k < actions.offsets[s]!; k++) {
        const last = actions.values[k] === 0 ? -1 : lastPlace[actions.indices[k]!]!;
        if (last >= 0) pushEntry(out, states.columns + counted.length + last, 1);
      }
    endRow(out);
    for (let k = actions.offsets[s]!; k < actions.offsets[s + 1]!; k++) {
      const at = place[actions.indices[k]!]!;
      if (at >= 0 && actions.values[k] !== 0) counts[at]!++;
    }
  }
  return finishRows(out, [
    ...states.names,
    ...counted.map((j) => `n_${actions.names[j]}`),
    ...classes.map((j) => `last_${actions.names[j]}`),
  ]);
}
