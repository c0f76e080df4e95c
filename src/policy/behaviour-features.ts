import type { StateConfigInput } from '../schema/state-config.ts';
import type { Store } from '../store/store.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import { endRow, finishRows, pushEntry, sparseBuilder } from '../trajectories/sparse-builder.ts';
import { stateFeatures } from '../trajectories/states.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

/** Without the n-grams, which would be most of the columns and none of the policy. */
const DEFAULT: StateConfigInput = {
  include: [
    'turn',
    'calls',
    'last_call',
    'repeat',
    'observation_length',
    'action_length',
    'features',
    'last_tool',
  ],
};

/** What a behaviour model looks at: the declared state and the class of the action before. */
export async function behaviourFeatures(
  store: Store,
  t: Trajectories,
  config: StateConfigInput = DEFAULT,
): Promise<SparseRows> {
  return withLastActionClass(t, await stateFeatures(store, t, config));
}

/** Adds a column for each class of the previous turn; the first turn of an episode has none. */
export function withLastActionClass(t: Trajectories, x: SparseRows): SparseRows {
  const { codes, values } = t.turns.actionClass;
  const first = new Uint8Array(x.rows + 1);
  for (const s of t.episodeOffsets) first[s] = 1;
  const out = sparseBuilder(x.rows);
  for (let s = 0; s < x.rows; s++) {
    for (let k = x.offsets[s]!; k < x.offsets[s + 1]!; k++) pushEntry(out, x.indices[k]!, x.values[k]!);
    if (first[s] === 0 && codes[s - 1]! >= 0) pushEntry(out, x.columns + codes[s - 1]!, 1);
    endRow(out);
  }
  return finishRows(out, [...x.names, ...values.map((name) => `last_action_class=${name}`)]);
}
