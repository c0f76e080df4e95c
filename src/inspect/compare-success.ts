import { mean } from '../math/statistics.ts';
import { sumOf } from '../math/sum.ts';
import type { CompareConfig, SuccessTable } from '../schema/compare.ts';
import { standardError, tInterval } from './compare-difference.ts';
import type { TaskTable } from './compare-task.ts';

/** pass^k is shown up to this k. */
const MOST_K = 16;

/** The 2 × 2 table of trial pairs and pass^k, of an outcome that is 0 or 1. */
export function successTable(table: TaskTable, rows: Int32Array, config: CompareConfig): SuccessTable {
  const [pA, pB] = table.mean;
  const over = (f: (a: number, b: number) => number): number =>
    sumOf(rows.length, (i) => f(pA[rows[i]!]!, pB[rows[i]!]!)) / rows.length;
  return {
    pairs: {
      both: over((a, b) => a * b),
      onlyA: over((a, b) => a * (1 - b)),
      onlyB: over((a, b) => (1 - a) * b),
      neither: over((a, b) => (1 - a) * (1 - b)),
    },
    passHatK: passHatK(table, rows, config),
  };
}

function passHatK(table: TaskTable, rows: Int32Array, config: CompareConfig): SuccessTable['passHatK'] {
  const product = [0, 1].map(() => new Float64Array(rows.length).fill(1)); // C(c, k)/C(n, k) = ∏_{i<k} (c − i)/(n − i)
  const out: SuccessTable['passHatK'] = [];
  for (let k = 1; k <= MOST_K; k++) {
    const with_k: number[] = [];
    for (let i = 0; i < rows.length; i++) {
      const c = rows[i]!;
      if (table.n[0][c]! < k || table.n[1][c]! < k) continue;
      with_k.push(i);
      for (const side of [0, 1] as const) {
        const n = table.n[side][c]!;
        const successes = Math.round(n * table.mean[side][c]!);
        product[side]![i]! *= Math.max(0, successes - k + 1) / (n - k + 1);
      }
    }
    if (with_k.length === 0) break;
    const d = Float64Array.from(with_k, (i) => product[1]![i]! - product[0]![i]!);
    const difference = mean(d);
    const se = standardError(d);
    const tasks = with_k.length;
    out.push({
      k,
      tasks,
      a: mean(with_k.map((i) => product[0]![i]!)),
      b: mean(with_k.map((i) => product[1]![i]!)),
      difference,
      se,
      interval:
        se === null || tasks < config.minTasks
          ? null
          : tInterval(difference, se, tasks - 1, config.level, 'paired t over tasks'),
    });
  }
  return out;
}
