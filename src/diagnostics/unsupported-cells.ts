import { type CellSums, rulePi } from '../weights/stream/file-ratios.ts';
import type { TargetPlan } from '../weights/stream/plan.ts';
import type { UnsupportedAt } from './unsupported-mass.ts';

const SHOWN = 10;

/**
 * The mass of unsupported-mass.ts from sums by cell and turn: mass(x) = u(x)/n Σ_t Σ_i w_{i,t−1}.
 * O(cells · (classes + stages)).
 */
export function unsupportedOfCells(
  plan: TargetPlan,
  { cells }: CellSums,
  n: number,
  stages: number,
): UnsupportedAt {
  if (plan.kind === 'scores') {
    const reason = 'recorded scores give the probability of logged actions only, not of the ones never taken';
    return { summary: { mass: null, reason, cells: [] }, byTurn: null };
  }
  const pi = rulePi(plan);
  const A = plan.classes.length;
  const byTurn = new Float64Array(stages);
  const found = [...cells.values()].map(({ rule, name, seen, before }) => {
    const own = pi.subarray(rule * A, (rule + 1) * A);
    const u = own.reduce((sum, p, a) => (seen[a] === 0 ? sum + p : sum), 0);
    let mass = 0;
    if (u > 0)
      before.forEach((w, t) => {
        mass += (w * u) / n;
        byTurn[t] = byTurn[t]! + (w * u) / n;
      });
    return { cell: name, actions: plan.classes.filter((_, a) => seen[a] === 0 && own[a]! > 0), mass };
  });
  const shown = found.filter((c) => c.mass > 0).sort((a, b) => b.mass - a.mass);
  const mass = found.reduce((sum, c) => sum + c.mass, 0);
  return { summary: { mass, reason: null, cells: shown.slice(0, SHOWN) }, byTurn };
}
