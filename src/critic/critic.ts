/**
 * Turn-level critic: Q, V and A = Q − V of the logging policy b by ridge backward induction,
 * cross-fitted by task (Murphy 2005 for the induction; ridge after Hoerl & Kennard 1970).
 *
 *   V̂_t(s)    = argmin_f Σ (G_t − f(s))²              G_t = Σ_{k≥t} r_k, the return still to come
 *   Q̂_t(s, a) = argmin_f Σ (r_t + V̂_{t+1}(s′) − f(s, a))²       V̂ = 0 after the end
 *   A_t = Q̂_t − V̂_t,        δ_t = r_t + V̂_{t+1}(s′) − V̂_t(s),   Σ_t δ_t = G − V̂(s₀) on each path
 *
 * Fold m of whole tasks is valued by models of the other folds; V̂ inside the responses of Q̂^(−m) is
 * V̂^(−m). λ is chosen within the training part.
 *
 * Departures: V is regressed on the return itself rather than on V̂_{t+1}, so that errors of later
 * stages do not add up in it (for nested linear designs the two agree). Stages with few turns are pooled
 * with a level for each turn index: their slopes are taken to be equal. λ for Q̂^(−m) is chosen with
 * responses from V̂^(−m), which has seen the inner folds but never fold m.
 *
 * Cost: n · nnz² for the sums and the support, then p³ per stage, fold pair and λ.
 */
import type { CrossFitConfig } from '../regress/cross-fit.ts';
import type { CriticReport } from '../schema/credit.ts';
import { CriticConfig, type CriticConfigInput } from '../schema/critic-config.ts';
import { failure } from '../schema/error.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { fitActions } from './actions.ts';
import { chooseInteractions, stateActionDesign, stateDesign } from './critic-designs.ts';
import { criticReport } from './critic-report.ts';
import { type CriticRows, criticRows } from './critic-rows.ts';
import { shuffledReturns } from './placebo.ts';
import { stageGroups } from './stages.ts';
import { fitValues } from './values.ts';

export interface CriticFit {
  readonly v: Float64Array; // [S] NaN where the turn was not fitted
  readonly q: Float64Array; // [S]
  readonly advantage: Float64Array; // [S]
  readonly advantageSe: Float64Array; // [S] of the ridge prediction, see turn-error.ts; NaN: none
  readonly delta: Float64Array; // [S]
  readonly supported: Uint8Array; // [S]
  readonly rows: CriticRows;
  readonly report: CriticReport;
}

export interface CriticProgress {
  readonly what: string;
  readonly done: number;
  readonly of: number;
}

/**
 * @param states [S rows] what came before each turn
 * @param actions [S rows] what was done in it
 * @throws a failure where fewer than two tasks hold a finished, rewarded episode
 */
export function fitCritic(
  t: Trajectories,
  states: SparseRows,
  actions: SparseRows,
  config: CriticConfigInput = {},
): CriticFit {
  const steps = criticSteps(t, states, actions, config);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same, giving way to other work between stages. */
export async function fitCriticSlowly(
  t: Trajectories,
  states: SparseRows,
  actions: SparseRows,
  config: CriticConfigInput = {},
  onProgress?: (progress: CriticProgress) => void,
): Promise<CriticFit> {
  const steps = criticSteps(t, states, actions, config);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    onProgress?.(step.value);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function* criticSteps(
  t: Trajectories,
  states: SparseRows,
  actions: SparseRows,
  input: CriticConfigInput,
): Generator<CriticProgress, CriticFit> {
  const config = parseConfig(CriticConfig, input, 'critic settings');
  const S = t.turns.turn.length;
  requireRows('states', states, S);
  requireRows('actions', actions, S);
  const r = criticRows(t, config.folds, config.seed);
  const groups = stageGroups(r, config.minStageRows);
  const ridge: CrossFitConfig = {
    lambda: config.lambda,
    grid: [...config.lambdaGrid].sort((a, b) => a - b),
    scale: config.scale,
  };
  const progress = (what: string, done: number): CriticProgress => ({ what, done, of: 2 * groups.length });

  // V first, at every stage: Q at a stage needs V at the next one.
  const B = config.placebos;
  const placebo = shuffledReturns(r, B, config.seed);
  const errors = { runs: B, all: new Float64Array(B), first: new Float64Array(B) };
  const values = new Float64Array(S * r.folds); // [S, K] V̂^(−m)
  const designs = groups.map((g) =>
    stateDesign(states, g.pooled ? { stage: r.stage, from: g.from, to: g.to } : null),
  );
  const fitsV = [];
  for (const [g, { rows }] of groups.entries()) {
    yield progress('V', g);
    fitsV.push(fitValues(designs[g]!, rows, r, ridge, values, placebo, errors));
  }

  const q = new Float64Array(S).fill(Number.NaN);
  const supported = new Uint8Array(S);
  const advantageSe = new Float64Array(S).fill(Number.NaN);
  const { codes, values: classes } = t.turns.actionClass;
  const taken = new Set(Array.from(r.rows, (row) => codes[row]!).filter((c) => c >= 0));
  const interactions = chooseInteractions(states, [...taken].map((c) => classes[c]!).sort(), config);
  const rule = {
    classCodes: codes,
    classes: classes.length,
    quantile: config.supportQuantile,
    sample: config.leverageSample,
  };
  const fitsQ = [];
  for (let g = groups.length - 1; g >= 0; g--) {
    yield progress('Q', 2 * groups.length - 1 - g);
    const design = stateActionDesign(designs[g]!, states, actions, t.turns.actionClass, interactions);
    const out = { q, supported, advantageSe };
    fitsQ.unshift(fitActions(design, designs[g]!, groups[g]!.rows, r, ridge, values, out, rule));
  }

  const v = new Float64Array(S).fill(Number.NaN);
  const advantage = new Float64Array(S).fill(Number.NaN);
  const delta = new Float64Array(S).fill(Number.NaN);
  for (const row of r.rows) v[row] = values[row * r.folds + r.fold[row]!]!;
  for (const row of r.rows) {
    advantage[row] = q[row]! - v[row]!;
    delta[row] = r.reward[row]! + (r.last[row] ? 0 : v[row + 1]!) - v[row]!;
  }
  const turnValues = { v, q, advantage, advantageSe, delta, supported, rows: r };
  const report = criticReport({
    ...{ t, states, actions, config, groups, fitsV, fitsQ, placebo, errors },
    ...{ interactions: interactions.note, values: turnValues },
  });
  return { ...turnValues, report };
}

function requireRows(what: string, x: SparseRows, S: number): void {
  if (x.rows !== S)
    throw failure({
      subject: `critic, ${what}`,
      wrong: 'has the wrong number of rows',
      got: x.rows,
      expected: `${S}, one for each turn of the columns`,
    });
}
