import type { EpisodeWeights } from '../weights/episode-weights.ts';
import { type CellSums, rulePi } from '../weights/stream/file-ratios.ts';
import type { TargetPlan } from '../weights/stream/plan.ts';
import { meanWeightOf } from './mean-weight.ts';
import { splitUnsupported, type UnsupportedAt, unknownMass } from './unsupported-split.ts';

/** The unsupported mass from sums by cell of a scan; see unsupported-split.ts. O(cells · (classes + stages)). */
export function unsupportedOfCells(plan: TargetPlan, { cells }: CellSums, w: EpisodeWeights): UnsupportedAt {
  if (plan.kind === 'scores') return unknownMass();
  const pi = rulePi(plan);
  const A = plan.classes.length;
  const list = [...cells.values()];
  return splitUnsupported({
    cells: list,
    pi: (x) => pi.subarray(list[x]!.rule * A, (list[x]!.rule + 1) * A),
    classes: plan.classes,
    logged: plan.logged,
    n: w.n,
    stages: w.stages,
    meanWeight: meanWeightOf(w),
  });
}
