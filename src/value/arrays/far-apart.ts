import { addBlock, scratch } from '../stream/first-pass.ts';
import { addInfluence, ratioTerms } from '../stream/second-pass.ts';
import { stageState, toStageSums } from '../stream/stage-state.ts';
import { checkTurns } from './check-arrays.ts';
import type { Columns, Rows } from './columns.ts';

/** What is left of the sums once the rows are written. */
export interface Values {
  readonly wis: number;
  readonly ess: number;
  /** By reward column: rewards, then residuals. */
  readonly ratios: readonly RatioValues[];
}
export interface RatioValues {
  readonly carried: Float64Array;
  readonly alive: Float64Array;
  readonly share: Float64Array;
}

/**
 * The same rows where weights do not fit a double as they are, or a stage has none above 0: one thread, with the
 * scale by stage of a store's scan. `rows.weight` is left divided by its largest.
 */
export function farApart(columns: Columns, rows: Rows): Values {
  const { offsets, behaviour, target, rewards, q } = columns;
  checkTurns(columns);
  const n = offsets.length - 1;
  const logRatios = target.map((x, k) => x - behaviour[k]!);
  const delta = q === null ? [] : [residuals(columns, logRatios)];
  const block = { n, row: 0, offsets, use: null, logRatios, rewards: [rewards, ...delta] };
  const state = stageState(block.rewards.length);
  const logWeight = new Float64Array(n);
  const weighted = [rows.pdis, ...(rows.model === null ? [] : [rows.model.dr])];
  for (const x of weighted) x.fill(0);
  addBlock(state, block, { logWeight, weighted }, scratch());
  const sums = toStageSums(state);
  const terms = block.rewards.map((_, c) => ratioTerms(state, sums, c));
  const { carried, alive, aliveMeanOverN, model } = rows;
  addInfluence(terms[0]!, block, rewards, { carried, alive, aliveMeanOverN }, null);
  if (model !== null) {
    const out = { carried: model.wdrCarried, alive: model.wdrAlive, aliveMeanOverN: null };
    addInfluence(terms[1]!, block, delta[0]!, out, null);
    for (const psi of [model.dr, model.wdrCarried, model.wdrAlive])
      for (let i = 0; i < n; i++) psi[i] = psi[i]! + q!.v[offsets[i]!]!;
  }
  const most = logWeight.reduce((a, b) => Math.max(a, b), -Infinity);
  const shift = Number.isFinite(most) ? most : 0;
  let [total, product, squares] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    let G = 0;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) G += rewards[k]!;
    const w = Math.exp(logWeight[i]! - shift);
    rows.returns[i] = G;
    rows.weight[i] = w;
    rows.is[i] = G === 0 ? 0 : Math.exp(logWeight[i]!) * G;
    total += w;
    squares += w * w;
    product += w * G;
  }
  const wis = product / total;
  for (let i = 0; i < n; i++) rows.wis[i] = ((n * rows.weight[i]!) / total) * (rows.returns[i]! - wis);
  return { wis, ess: squares === 0 ? 0 : (total * total) / squares, ratios: terms };
}

/** δ_t = r_t + V̂_{t+1} − Q̂_t; 0 after the target has left an episode. */
function residuals({ offsets, rewards, q }: Columns, logRatios: Float64Array): Float64Array {
  const { logged, v } = q!;
  const delta = new Float64Array(rewards.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    const end = offsets[i + 1]!;
    for (let k = offsets[i]!; k < end && logRatios[k] !== -Infinity; k++)
      delta[k] = rewards[k]! + (k + 1 === end ? 0 : v[k + 1]!) - logged[k]!;
  }
  return delta;
}
