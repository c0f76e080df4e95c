/*
 * The two passes over a range of the episodes of a store, for all targets at once. The turns are read once a
 * pass; each target adds its scores, read beside them in the same order, or its rules.
 */

import { addPropensities, type PropensityTurns } from '../../diagnostics/propensity-cells.ts';
import type { Store } from '../../store/store.ts';
import { checkTurns } from '../../weights/stream/column-check.ts';
import { addBefore, type CellSums, type FileRatios, fileRatios } from '../../weights/stream/file-ratios.ts';
import { loggedClasses, type ScanPlan, type TargetPlan } from '../../weights/stream/plan.ts';
import { type ScoreCursor, scoreCursor } from '../../weights/stream/score-cursor.ts';
import { type TurnBlock, turnBlocks } from '../../weights/stream/turn-blocks.ts';
import type { EpisodeBlock } from './block.ts';
import { addBlock, type Scratch, scratch } from './first-pass.ts';
import { addMeanRows } from './mean-rows.ts';
import { blockRewards, blockUse, type ScanRows } from './scan-rows.ts';
import { addInfluence, type RatioTerms } from './second-pass.ts';
import { type ShardState, shardState } from './shard-state.ts';
import { isShifted } from './stage-state.ts';
import { addTails } from './stage-tails.ts';

/** The episodes at places `first` to `end`. */
export interface Range {
  readonly first: number;
  readonly end: number;
}

/** Sums by stage of every target; writes returns, lengths, weights and weighted rewards by episode. */
export async function firstScan(
  store: Store,
  plan: ScanPlan,
  rows: ScanRows,
  range: Range,
  episodesAtMost: readonly number[],
): Promise<ShardState[]> {
  const states = episodesAtMost.map((n, p) =>
    shardState(n, {
      classes: loggedClasses(plan.targets[p]!).length,
      rules: plan.targets[p]!.kind === 'file',
      features: plan.features,
      tasks: rows.task.values.length,
    }),
  );
  const s = scratch();
  await eachBlock(store, plan, rows, range, async (block, rewards, sources) => {
    for (const [p, target] of plan.targets.entries()) {
      const use = blockUse(block, rows, p);
      const state = states[p]!;
      const ratios = await logRatios(target, block, rows, use, sources[p]!, state.cells, state);
      const own: EpisodeBlock = { ...block, use, logRatios: ratios.values, rewards: [rewards] };
      addBlock(state.stages, own, rows.targets[p]!, s);
      const weights = trueWeights(state, s, block.offsets[block.n]!);
      addTails(state.tails, own, rows.targets[p]!.logWeight, s.logs, weights);
      addMeanRows(state.means, own, rows.cluster, rows.episodesOf, weights);
      if (ratios.cells !== null) addBefore(state.cells, ratios.cells, block, use, weights);
      countFlags(state, block, rows, use);
      addMissing(state, target, block, rows, p, ratios.values);
      addPropensities(state.propensities, propensityTurns(block, rows, use, ratios));
    }
  });
  return states;
}

/** Influence values of the ratios, by episode. */
export async function secondScan(
  store: Store,
  plan: ScanPlan,
  rows: ScanRows,
  range: Range,
  terms: readonly (RatioTerms | null)[],
): Promise<void> {
  await eachBlock(store, plan, rows, range, async (block, rewards, sources) => {
    for (const [p, target] of plan.targets.entries()) {
      const own = terms[p]!;
      const use = blockUse(block, rows, p);
      const ratios = await logRatios(target, block, rows, use, sources[p]!, { cells: new Map() }, null);
      if (own === null) continue;
      const seen: EpisodeBlock = { ...block, use, logRatios: ratios.values, rewards: [rewards] };
      addInfluence(own, seen, rewards, rows.targets[p]!, null);
    }
  });
}

async function eachBlock(
  store: Store,
  plan: ScanPlan,
  rows: ScanRows,
  { first, end }: Range,
  body: (block: TurnBlock, rewards: Float64Array, sources: readonly (ScoreCursor | null)[]) => Promise<void>,
): Promise<void> {
  const sources = plan.targets.map((target) =>
    target.kind === 'scores' && first < end ? scoreCursor(store, target, rows.episode, first, end) : null,
  );
  try {
    for await (const block of turnBlocks(store, plan.turns, rows.episode, first, end))
      await body(block, blockRewards(block, rows, plan.discount), sources);
  } finally {
    for (const source of sources) await source?.close();
  }
}

/** log π − log b at the turns in use, checked in the first pass. */
async function logRatios(
  target: TargetPlan,
  block: TurnBlock,
  rows: ScanRows,
  use: Uint8Array,
  source: ScoreCursor | null,
  cells: CellSums,
  checks: Pick<ShardState, 'behaviour' | 'target'> | null,
): Promise<{ values: Float64Array; cells: FileRatios | null }> {
  const { n, row, offsets, columns } = block;
  const name = target.measure === 'logprob' ? 'behaviour_logprob' : 'behaviour_log_propensity';
  const behaviour = columns[name]!;
  const scores = source === null ? null : await source.at(block);
  if (checks !== null)
    for (let i = 0; i < n; i++) {
      if (use[i] === 0) continue;
      const [from, to] = [offsets[i]!, offsets[i + 1]!];
      checkTurns(checks.behaviour, behaviour, columns.turn!, from, to, row + i);
      if (scores !== null) checkTurns(checks.target, scores, columns.turn!, from, to, row + i);
    }
  if (target.kind === 'file') {
    const found = fileRatios(target, block, rows.task, rows.cluster, use, cells);
    return { values: found.values, cells: found };
  }
  const values = scores ?? new Float64Array(0);
  for (let k = 0; k < values.length; k++) values[k] = values[k]! - behaviour[k]!;
  return { values, cells: null };
}

/** The weight of the episodes of a block that have no return, as far as it is known. */
function addMissing(
  state: ShardState,
  target: TargetPlan,
  block: TurnBlock,
  rows: ScanRows,
  place: number,
  scored: Float64Array,
): void {
  const { n, row, offsets, columns } = block;
  const { view } = rows.targets[place]!;
  const unpaid = new Uint8Array(n);
  let any = false;
  for (let i = 0; i < n; i++)
    if (view[row + i] === 1 && rows.aborted[row + i] === 0 && Number.isNaN(rows.returns[row + i]!)) {
      unpaid[i] = 1;
      any = true;
    }
  if (!any) return;
  let values = scored;
  if (target.kind === 'file') {
    // Only whole episodes can be matched; the others stay unknown.
    const whole = unpaid.map((x, i) => {
      for (let k = offsets[i]!; x === 1 && k < offsets[i + 1]!; k++)
        if (!(columns.class![k]! >= 0 && columns.behaviour_log_propensity![k]! <= 0)) return 0;
      return x;
    });
    try {
      values = fileRatios(target, block, rows.task, rows.cluster, whole, { cells: new Map() }).values;
    } catch {
      values = new Float64Array(offsets[n]!).fill(Number.NaN);
    }
  }
  for (let i = 0; i < n; i++) {
    if (unpaid[i] === 0) continue;
    let log = 0;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) log += values[k]!;
    if (Number.isNaN(log)) state.missing.unknown++;
    else state.missing.weight += Math.exp(log);
  }
}

/** The turns in use as the propensities are looked at. */
function propensityTurns(
  { n, row, offsets, columns }: TurnBlock,
  rows: ScanRows,
  use: Uint8Array,
  ratios: { readonly values: Float64Array; readonly cells: FileRatios | null },
): PropensityTurns {
  function* episodes(): PropensityTurns['episodes'] {
    for (let i = 0; i < n; i++)
      if (use[i] === 1) yield [offsets[i]!, offsets[i + 1]!, rows.task.codes[row + i]!];
  }
  const features: Float64Array[] = [];
  for (let k = 0; columns[`feature_${k}`] !== undefined; k++) features.push(columns[`feature_${k}`]!);
  return {
    episodes: episodes(),
    logP: columns.behaviour_log_propensity ?? NONE,
    logRatios: ratios.values,
    actionClass: columns.class ?? null,
    rule: ratios.cells?.rule ?? null,
    features,
  };
}

const NONE = new Float64Array(0);

/** w_t of the turns of a block, not divided by anything. */
function trueWeights(state: ShardState, s: Scratch, turns: number): Float64Array {
  if (!isShifted(state.stages)) return s.weights;
  const out = new Float64Array(turns);
  for (let k = 0; k < turns; k++) out[k] = Math.exp(s.logs[k]!);
  return out;
}

function countFlags(state: ShardState, block: TurnBlock, rows: ScanRows, use: Uint8Array): void {
  const { row, n, offsets, columns } = block;
  const flags = columns.flags!;
  const { codes } = rows.task;
  for (let i = 0; i < n; i++) {
    if (use[i] === 0) continue;
    state.withTask.episodes++;
    if (codes[row + i]! >= 0) state.withTask.withTask++;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) state.flags[flags[k]!] = state.flags[flags[k]!]! + 1;
  }
}
