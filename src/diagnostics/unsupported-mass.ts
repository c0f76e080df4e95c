import type { EpisodeWeights } from '../weights/episode-weights.ts';
import { NO_TASK, taskAfter } from '../weights/one-task.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { meanWeightOf } from './mean-weight.ts';
import { type CellSum, splitUnsupported, type UnsupportedAt, unknownMass } from './unsupported-split.ts';

export type { UnsupportedAt } from './unsupported-split.ts';

/** The unsupported mass of loaded logs; see unsupported-split.ts. O(turns + cells · (classes + stages)). */
export function unsupportedMass({ table }: LogRatios, w: EpisodeWeights): UnsupportedAt {
  if (table === null) return unknownMass();
  const { n, offsets, weights, shift, trajectories, clusters } = w;
  const { episodeOffsets, index, turns } = trajectories;
  const A = table.classes.length;
  const cells = table.cells.map((name, x) => ({
    name,
    task: NO_TASK,
    ofTask: table.cellOfTask?.[x] === 1,
    counts: new Float64Array(A),
    inverse: new Float64Array(A),
    before: [] as number[],
  }));
  const { codes } = turns.actionClass;
  for (let i = 0; i < n; i++) {
    const row = episodeOffsets[index[i]!]!;
    let before = 1; // w_{t−1}
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      const cell = cells[table.cell[row + t]!]!;
      const a = codes[row + t]!;
      cell.task = taskAfter(cell.task, clusters.of[i]!);
      cell.counts[a] = cell.counts[a]! + 1;
      cell.inverse[a] = cell.inverse[a]! + Math.exp(-turns.behaviourLogPropensity[row + t]!);
      if (before > 0) {
        while (cell.before.length <= t) cell.before.push(0);
        cell.before[t] = cell.before[t]! + before;
      }
      before = weights[s]! * Math.exp(shift[t]!);
    }
  }
  return splitUnsupported({
    cells: cells satisfies CellSum[],
    pi: (x) => table.probabilities.subarray(x * A, (x + 1) * A),
    classes: table.classes,
    logged: turns.actionClass.values.length,
    n,
    stages: w.stages,
    meanWeight: meanWeightOf(w),
  });
}
