import { matchRules, namesTasks } from '../../policy/match-rules.ts';
import type { PolicyFile } from '../../policy/policy-file.ts';
import { failure } from '../../schema/error.ts';
import type { Trajectories } from '../../trajectories/trajectories.ts';
import { NO_TASK, taskAfter } from '../one-task.ts';
import type { TurnBlock } from './turn-blocks.ts';

/** What a declared target did in the cells of its state so far, by their keys. Two of them merge. */
export interface CellSums {
  readonly cells: Map<string, CellSum>;
}

interface CellSum {
  readonly rule: number;
  readonly name: string;
  readonly counts: Float64Array; // [classes] turns that took it
  readonly inverse: Float64Array; // [classes] Σ 1/p over them
  readonly before: number[]; // [stages]
  task: number;
  readonly ofTask: boolean;
}

/** log π − log b at the turns of a block, and the cell of each turn. */
export interface FileRatios {
  readonly values: Float64Array; // [turns], NaN where not in use
  readonly cell: Int32Array; // [turns] code into `keys`, −1 where not in use
  readonly rule: Int32Array; // [turns]
  readonly keys: readonly string[];
}

interface Target {
  readonly file: PolicyFile;
  readonly classes: readonly string[];
}

/** π of each rule by class, [rules × classes]. */
export function rulePi({ file, classes }: Target): Float64Array {
  return Float64Array.from(
    file.rules.flatMap((r) =>
      classes.map((name) => (Object.hasOwn(r.probabilities, name) ? r.probabilities[name]! : 0)),
    ),
  );
}

/**
 * Matches the rules at the turns of a block, as `logRatiosFromPolicyFile` does on loaded logs.
 * @param task codes and names by place of the episode
 * @param cluster task, or the episode itself, by place of the episode
 */
export function fileRatios(
  target: Target,
  block: TurnBlock,
  task: Trajectories['episodes']['task'],
  cluster: Int32Array,
  use: Uint8Array,
  sums: CellSums,
): FileRatios {
  const t = blockTrajectories(block, task, use, target.classes);
  const { rule, cell, cells } = matchRules(t, target.file);
  const pi = rulePi(target);
  const A = target.classes.length;
  const code = block.columns.class!;
  const behaviour = block.columns.behaviour_log_propensity!;
  const values = new Float64Array(code.length).fill(Number.NaN);
  const own = cells.map(({ key, name, rule }) => {
    let known = sums.cells.get(key);
    if (known === undefined) {
      known = {
        rule,
        name,
        counts: new Float64Array(A),
        inverse: new Float64Array(A),
        before: [],
        task: NO_TASK,
        ofTask: namesTasks(target.file, rule),
      };
      sums.cells.set(key, known);
    }
    return known;
  });
  for (const e of t.index)
    for (let s = block.offsets[e]!; s < block.offsets[e + 1]!; s++) {
      const a = code[s]!;
      if (a < 0)
        throw failure({
          subject: `episode ${t.episodes.id[e]} turn ${block.columns.turn![s]}, column action_class`,
          wrong: `is missing, so target "${target.file.policy}" gives its action no probability`,
          fix: 'Declare the class of every action in the log.',
        });
      values[s] = Math.log(pi[rule[s]! * A + a]!) - behaviour[s]!;
      const found = own[cell[s]!]!;
      const { counts, inverse } = found;
      found.task = taskAfter(found.task, cluster[block.row + e]!);
      counts[a] = counts[a]! + 1;
      inverse[a] = inverse[a]! + Math.exp(-behaviour[s]!);
    }
  return { values, cell, rule, keys: cells.map((c) => c.key) };
}

/** Adds w_{t−1} of every turn in use to its cell and turn. */
export function addBefore(
  sums: CellSums,
  { cell, keys }: FileRatios,
  { n, offsets }: TurnBlock,
  use: Uint8Array,
  trueWeights: Float64Array,
): void {
  const before = keys.map((key) => sums.cells.get(key)!.before);
  for (let i = 0; i < n; i++) {
    if (use[i] === 0) continue;
    let w = 1;
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      if (w > 0) {
        const at = before[cell[s]!]!;
        while (at.length <= t) at.push(0);
        at[t] = at[t]! + w;
      }
      w = trueWeights[s]!;
    }
  }
}

export function mergeCells(into: CellSums, from: CellSums): void {
  for (const [key, b] of from.cells) {
    const a = into.cells.get(key);
    if (a === undefined) {
      into.cells.set(key, b);
      continue;
    }
    a.task = taskAfter(a.task, b.task);
    b.counts.forEach((x, k) => {
      a.counts[k] = a.counts[k]! + x;
      a.inverse[k] = a.inverse[k]! + b.inverse[k]!;
    });
    b.before.forEach((x, t) => {
      a.before[t] = (a.before[t] ?? 0) + x;
    });
  }
}

/** The block as trajectories that hold what rules may look at. */
function blockTrajectories(
  { row, n, offsets, columns }: TurnBlock,
  task: Trajectories['episodes']['task'],
  use: Uint8Array,
  classes: readonly string[],
): Trajectories {
  const index = Int32Array.from(use.keys()).filter((i) => use[i] === 1);
  const turns = offsets[n]!;
  const features = Object.keys(columns)
    .filter((name) => name.startsWith('feature_'))
    .map((name) => Number(name.slice(8)));
  const width = features.reduce((most, k) => Math.max(most, k + 1), 0);
  const values = new Float64Array(width * turns);
  for (const k of features)
    for (let s = 0; s < turns; s++) values[s * width + k] = columns[`feature_${k}`]![s]!;
  const at = new Int32Array(turns + 1);
  for (let s = 0; s <= turns; s++) at[s] = s * width;
  const id = Array.from({ length: n }, (_, i) => `number ${row + i} of the store`);
  return {
    index,
    episodeOffsets: offsets,
    // Only what rules may ask of a turn is there.
    episodes: {
      task: { codes: task.codes.subarray(row, row + n), values: task.values },
      id,
    } as unknown as Trajectories['episodes'],
    turns: {
      turn: Int32Array.from(columns.turn!),
      actionClass: { codes: Int32Array.from(columns.class!), values: classes },
    } as unknown as Trajectories['turns'],
    features: { offsets: at, values },
    tokens: null,
  };
}
