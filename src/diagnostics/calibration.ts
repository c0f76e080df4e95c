import type { BehaviourTable } from '../policy/behaviour-table.ts';
import type { Calibration } from '../schema/calibration.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

const BINS = 10;

/** Calibration of the behaviour's probabilities on the turns of the view that have a class. O(turns × C). */
export function calibration(t: Trajectories, { classes, probabilities }: BehaviourTable): Calibration {
  const C = classes.length;
  const { codes } = t.turns.actionClass;
  const taken = new Float64Array(C);
  const predicted = new Float64Array(C);
  const binTurns = new Float64Array(C * BINS);
  const binPredicted = new Float64Array(C * BINS);
  const binTaken = new Float64Array(C * BINS);
  const stages: Stage[] = [];
  let sumError = 0;
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!, k = 0; s < t.episodeOffsets[e + 1]!; s++, k++) {
      const own = codes[s]!;
      if (own < 0 || Number.isNaN(probabilities[s * C]!)) continue;
      const at = stages[k] ?? { n: 0, brier: 0, logLoss: 0, taken: new Float64Array(C) };
      stages[k] = at;
      let total = 0;
      for (let a = 0; a < C; a++) {
        const g = probabilities[s * C + a]!;
        const bin = a * BINS + Math.min(BINS - 1, Math.floor(g * BINS));
        const hit = a === own ? 1 : 0;
        total += g;
        predicted[a] = predicted[a]! + g;
        binTurns[bin] = binTurns[bin]! + 1;
        binPredicted[bin] = binPredicted[bin]! + g;
        binTaken[bin] = binTaken[bin]! + hit;
        at.brier += (g - hit) ** 2;
      }
      at.n++;
      at.logLoss -= Math.log(probabilities[s * C + own]!);
      at.taken[own] = at.taken[own]! + 1;
      taken[own] = taken[own]! + 1;
      sumError = Math.max(sumError, Math.abs(total - 1));
    }
  const reached = [...stages.entries()].filter(([, at]) => at !== undefined);
  const over = (f: (at: Stage) => number): number => reached.reduce((sum, [, at]) => sum + f(at), 0);
  const n = over((at) => at.n);
  const mean = (sum: number): number => (n === 0 ? 0 : sum / n);
  return {
    turns: n,
    brier: mean(over((at) => at.brier)),
    brierConstant: n === 0 ? 0 : 1 - taken.reduce((sum, x) => sum + (x / n) ** 2, 0),
    logLoss: finite(mean(over((at) => at.logLoss))),
    logLossConstant: entropy(taken),
    sumError,
    classes: classes.map((actionClass, a) => {
      const bins = Array.from({ length: BINS }, (_, b) => {
        const turns = binTurns[a * BINS + b]!;
        return {
          from: b / BINS,
          to: (b + 1) / BINS,
          turns,
          predicted: binPredicted[a * BINS + b]! / turns,
          observed: binTaken[a * BINS + b]! / turns,
        };
      }).filter((bin) => bin.turns > 0);
      return {
        actionClass,
        taken: taken[a]!,
        meanPredicted: mean(predicted[a]!),
        observed: mean(taken[a]!),
        error: mean(bins.reduce((sum, b) => sum + b.turns * Math.abs(b.observed - b.predicted), 0)),
        bins,
      };
    }),
    stages: reached.map(([turn, at]) => ({
      turn,
      turns: at.n,
      brier: at.brier / at.n,
      logLoss: finite(at.logLoss / at.n),
      logLossConstant: entropy(at.taken),
    })),
  };
}

interface Stage {
  n: number;
  brier: number;
  logLoss: number;
  readonly taken: Float64Array; // [C]
}

/** −Σ f log f of counts. */
function entropy(counts: Float64Array): number {
  const n = counts.reduce((a, b) => a + b, 0);
  return counts.reduce((sum, x) => (x > 0 ? sum - (x / n) * Math.log(x / n) : sum), 0);
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
