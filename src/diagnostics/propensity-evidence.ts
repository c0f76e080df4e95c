/*
 * Whether the logged actions contradict the logged propensities, as e-values: non-negative with mean at most 1 when
 * every action was drawn with the propensity that was logged for it, so that P(e ≥ 1/α) ≤ α (Markov), however many
 * turns, tasks or tails there are. No error is estimated, and the turns of a task need not be independent.
 *
 *   counts   Π q(a)/p(a) over the turns of a cell, q the prequential frequencies of the classes there with ½ added to
 *            each (Krichevsky & Trofimov 1981): strong where p hardly varies within the cell
 *   shares   Π (1 − λ + λ 1{a = c}/p) by class c, since E[1{a = c}/p] ≤ 1: for class c taken more often than logged,
 *            however p varies (Waudby-Smith & Ramdas 2024)
 *   ratio    Π (1 − λ + λ ρ), since E[ρ | cell] ≤ 1 for the target's own ratio ρ, where actions have no classes
 *
 *   e of a cell        mean of the first two, over λ and c; without classes the third
 *   e of a partition   ½ Π_cells (½ + ½ e) + ½ mean_cells e: many cells that are a little off, or one that is far
 *   refused            where e ≥ partitions/α (Bonferroni), those of one cell counted once
 *
 * Not looked at: a class taken less often than logged where p varies and nothing else is taken more often; states that
 * none of the cells tells apart (loaded logs are also held against a model of the actions).
 */
import { logGamma } from '../math/special.ts';
import {
  AT,
  BETS,
  cellName,
  OF_CLASS,
  OWN_CLASSES,
  ownClasses,
  type PropensityCells,
} from './propensity-cells.ts';

/** Relative error of a propensity below which it is not told: rounding to two digits. */
const MATERIAL = 0.02;

export interface PropensityFinding {
  /** Where, in words. */
  readonly cell: string;
  /** The class that stands out; null: the target's ratio. */
  readonly action: string | null;
  readonly turns: number;
  /** Share of the turns that took the class, and the propensity logged where it was taken. */
  readonly share: number;
  readonly logged: number;
  /** Mean of 1{a = c}/p, or of ρ. */
  readonly mean: number;
  /** log₁₀ of the e-value over the number of partitions. */
  readonly strength: number;
  readonly limit: number;
}

/** The partition with the strongest evidence, where that is beyond 1/α. @param names of the classes */
export function contradiction(
  sums: PropensityCells,
  names: readonly string[],
  alpha: number,
): PropensityFinding | null {
  const { partitions, tasks, classes } = sums;
  // Partitions of one cell are all the same: every turn.
  const several = partitions.filter(({ cells }) => cells.size > 1);
  const whole = partitions.find(({ cells }) => cells.size === 1);
  const kinds = whole === undefined ? several : [whole, ...several];
  const looked = kinds.length + (tasks === null ? 0 : 1);
  const limit = Math.log(1 / alpha);
  let best: PropensityFinding | null = null;
  const consider = (
    log: number,
    telling: () => Omit<PropensityFinding, 'strength' | 'limit'> | null,
  ): void => {
    const strength = log - Math.log(looked);
    if (strength < limit || (best !== null && strength / Math.LN10 <= best.strength)) return;
    const found = telling();
    if (found !== null && Math.abs(found.mean - 1) > MATERIAL)
      best = { ...found, strength: strength / Math.LN10, limit: limit / Math.LN10 };
  };
  for (const { name, cells } of kinds) {
    const logs = [...cells].map(([key, cell]) => ({ key, cell, log: logOfCell(cell, classes) }));
    consider(combined(logs.map((x) => x.log)), () => {
      const { key, cell } = logs.reduce((most, x) => (x.log > most.log ? x : most));
      return tellingOf(
        cell,
        classes,
        names,
        cellName(name, key, (code) => names[code] ?? ''),
      );
    });
  }
  if (tasks !== null && tasks.size > 0) {
    const logs = [...tasks.values()].map((sum) => ({ sum, log: logOfTask(sum, classes) }));
    consider(combined(logs.map((x) => x.log)), () => {
      const { sum } = logs.reduce((most, x) => (x.log > most.log ? x : most));
      return tellingOfTask(sum, classes, names);
    });
  }
  return best;
}

/** log of ½ Π (½ + ½ e) + ½ mean e. */
function combined(logs: readonly number[]): number {
  if (logs.length === 0) return 0;
  const product = logs.reduce((sum, log) => sum + logAdd(Math.log(0.5), log + Math.log(0.5)), 0);
  const mean = logs.reduce((sum, log) => logAdd(sum, log), -Infinity) - Math.log(logs.length);
  return logAdd(product, mean) + Math.log(0.5);
}

function logOfCell(cell: Float64Array, classes: number): number {
  const n = cell[AT.n]!;
  if (classes === 0) {
    let ratio = -Infinity;
    for (let j = 0; j < BETS.length; j++) ratio = logAdd(ratio, cell[AT.rhoBets + j]!);
    return ratio - Math.log(BETS.length);
  }
  const own = ownClasses(classes);
  let shares = -Infinity;
  const counts = new Float64Array(own + 1);
  for (let c = 0; c < own; c++) {
    const at = AT.classes + c * OF_CLASS.size;
    counts[c] = cell[at]!;
    BETS.forEach((lambda, j) => {
      shares = logAdd(shares, cell[at + OF_CLASS.bets + j]! + (n - counts[c]!) * Math.log1p(-lambda));
    });
  }
  shares -= Math.log(own * BETS.length);
  if (classes > OWN_CLASSES) counts[own] = cell[AT.classes + own * OF_CLASS.size]!;
  const frequencies = logPrequential(counts, n, classes) - cell[AT.logP]!;
  return logAdd(shares, frequencies) - Math.LN2;
}

const logOfTask = (sum: Float64Array, classes: number): number => {
  const own = ownClasses(classes);
  const counts = sum.subarray(0, own + 1);
  return (
    logPrequential(
      counts,
      counts.reduce((a, b) => a + b, 0),
      classes,
    ) - sum[own + 1]!
  );
};

/** log of the prequential probability of the classes, rarer ones evenly among themselves. @param counts [own + 1] */
function logPrequential(counts: Float64Array, n: number, classes: number): number {
  const own = counts.length - 1;
  const others = classes - own;
  let log = logGamma(classes / 2) - logGamma(n + classes / 2);
  for (let c = 0; c < own; c++) if (counts[c]! > 0) log += logGamma(counts[c]! + 0.5) - logGamma(0.5);
  if (others > 0 && counts[own]! > 0)
    log += logGamma(counts[own]! + others / 2) - logGamma(others / 2) - counts[own]! * Math.log(others);
  return log;
}

/** The class of a cell whose mean of 1{a = c}/p is furthest from 1 in turns, or the ratio where there is none. */
function tellingOf(cell: Float64Array, classes: number, names: readonly string[], where: string) {
  const n = cell[AT.n]!;
  const ratio = { cell: where, action: null, turns: n, share: Number.NaN, logged: Number.NaN };
  const found = { ...ratio, mean: cell[AT.rho]! / n };
  if (classes === 0) return found;
  let most = -1;
  let best: Omit<PropensityFinding, 'strength' | 'limit'> = found;
  for (let c = 0; c < ownClasses(classes); c++) {
    const at = AT.classes + c * OF_CLASS.size;
    const count = cell[at]!;
    const mean = cell[at + OF_CLASS.inverse]! / n;
    // In standard errors of the share, as if p did not vary.
    const logged = count > 0 ? count / cell[at + OF_CLASS.inverse]! : Number.NaN;
    const off = count > 0 ? Math.abs(mean - 1) * Math.sqrt(logged / (1 - logged + 1e-9)) : 0;
    if (off <= most) continue;
    most = off;
    best = { cell: where, action: names[c] ?? `class ${c}`, turns: n, share: count / n, logged, mean };
  }
  return best;
}

/** The same of a task, whose sums hold Σ log p alone: the logged propensity is their geometric mean. */
function tellingOfTask(sum: Float64Array, classes: number, names: readonly string[]) {
  const own = ownClasses(classes);
  const counts = sum.subarray(0, own);
  const n = sum.subarray(0, own + 1).reduce((a, b) => a + b, 0);
  const c = counts.reduce((most, x, k) => (x > counts[most]! ? k : most), 0);
  const logged = Math.exp(sum[own + 1]! / n);
  const share = counts[c]! / n;
  return {
    cell: 'in one task, and in others alike',
    action: names[c] ?? '',
    turns: n,
    share,
    logged,
    mean: share / logged,
  };
}

const logAdd = (a: number, b: number): number => {
  const top = Math.max(a, b);
  return top === -Infinity ? top : top + Math.log1p(Math.exp(Math.min(a, b) - top));
};
