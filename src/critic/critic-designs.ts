import { type Design, widestRow } from '../regress/design.ts';
import type { CriticConfig } from '../schema/critic-config.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import type { Coded } from '../trajectories/trajectories.ts';

/** Stages that share a regression. */
export interface PooledStages {
  readonly stage: Int32Array; // [S] turn index of every turn
  readonly from: number;
  readonly to: number; // inclusive
}

/** Turn indices beyond the first of a pool that get a level of their own. */
const LEVELS = 64;

/**
 * φ(s): the state columns; where stages are pooled also a level for each turn index after the pool's
 * first (the later ones share the last), so that A averages to about 0 at each of them.
 */
export function stateDesign(states: SparseRows, pooled: PooledStages | null): Design {
  const p = states.columns;
  const levels = pooled ? Math.min(pooled.to - pooled.from, LEVELS) : 0;
  return {
    columns: p + levels,
    names: [...states.names, ...Array.from({ length: levels }, (_, k) => `turn=${pooled!.from + 1 + k}`)],
    maxEntries: widestRow(states) + 1,
    gather(row, indices, values) {
      const n = copyRow(states, row, 0, indices, values, 0);
      const level = pooled ? Math.min(pooled.stage[row]! - pooled.from, levels) : 0;
      if (level === 0) return n;
      indices[n] = p + level - 1;
      values[n] = 1;
      return n + 1;
    },
  };
}

/** Which state columns are multiplied by the action class, and why not more. */
export interface Interactions {
  readonly classes: readonly string[];
  readonly columns: readonly number[]; // of the states
  readonly note: string;
}

/** φ(s, a): the state, the action, and class × state for the columns of `interactions`. */
export function stateActionDesign(
  state: Design,
  states: SparseRows,
  actions: SparseRows,
  actionClass: Coded,
  interactions: Interactions,
): Design {
  const { classes, columns } = interactions;
  const first = state.columns + actions.columns;
  // A class has an intercept of its own unless the action columns already mark it.
  const marked = classes.every((c) => actions.names.includes(`class=${c}`));
  const intercepts = marked ? 0 : 1;
  const width = classes.length > 0 ? columns.length + intercepts : 0;
  const placeOf = new Int32Array(states.columns).fill(-1);
  columns.forEach((j, k) => {
    placeOf[j] = k + intercepts;
  });
  const blockOf = Int32Array.from(actionClass.values, (c) => classes.indexOf(c));
  const names = [...state.names, ...actions.names];
  for (const c of classes) {
    if (!marked) names.push(`class=${c}`);
    for (const j of columns) names.push(`class=${c} × ${states.names[j]}`);
  }
  return {
    columns: first + classes.length * width,
    names,
    maxEntries: state.maxEntries + widestRow(actions) + widestRow(states) + 1,
    gather(row, indices, values) {
      let n = state.gather(row, indices, values);
      n = copyRow(actions, row, state.columns, indices, values, n);
      const code = width > 0 ? actionClass.codes[row]! : -1;
      const block = code < 0 ? -1 : blockOf[code]!;
      if (block < 0) return n;
      const base = first + block * width;
      if (!marked) {
        indices[n] = base;
        values[n++] = 1;
      }
      for (let i = states.offsets[row]!; i < states.offsets[row + 1]!; i++) {
        const k = placeOf[states.indices[i]!]!;
        if (k < 0) continue;
        indices[n] = base + k;
        values[n++] = states.values[i]!;
      }
      return n;
    },
  };
}

/** The widest set of state columns that fits: all, all but hashed n-grams, the declared features. */
export function chooseInteractions(
  states: SparseRows,
  classes: readonly string[], // that occur in the fitted turns
  config: Pick<CriticConfig, 'interactions' | 'maxClasses' | 'maxInteractions'>,
): Interactions {
  const none = (note: string): Interactions => ({ classes: [], columns: [], note });
  if (config.interactions === 'none') return none('additive: interactions are switched off');
  if (classes.length < 2) return none('additive: no action classes are declared');
  if (classes.length > config.maxClasses)
    return none(`additive: ${classes.length} action classes, more than ${config.maxClasses}`);
  const all = [...states.names.keys()];
  const sets: [string, number[]][] = [
    ['all state columns', all],
    ['state columns but hashed n-grams', all.filter((j) => !/^ngram/.test(states.names[j]!))],
    ['declared features', all.filter((j) => /^features\./.test(states.names[j]!))],
  ];
  for (const [what, columns] of sets)
    if (columns.length > 0 && columns.length * classes.length <= config.maxInteractions)
      return { classes, columns, note: `action class × ${what}` };
  return none(`additive: class × state would need more than ${config.maxInteractions} columns`);
}

function copyRow(
  x: SparseRows,
  row: number,
  shift: number,
  indices: Int32Array,
  values: Float64Array,
  at: number,
): number {
  const start = x.offsets[row]!;
  const n = x.offsets[row + 1]! - start;
  for (let k = 0; k < n; k++) {
    indices[at + k] = x.indices[start + k]! + shift;
    values[at + k] = x.values[start + k]!;
  }
  return at + n;
}
