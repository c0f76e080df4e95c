import type { CriticRows } from './critic-rows.ts';

/** Stages that share one pair of regressions. */
export interface StageGroup {
  readonly from: number;
  readonly to: number; // inclusive
  /** Several stages in one regression, with a level for each turn index. */
  readonly pooled: boolean;
  readonly rows: Int32Array; // turn rows
}

/**
 * A stage of its own as long as every training part (all folds but one) holds at least `least` of its
 * turns; the stages after that are pooled, and the pool reaches back until it holds as many.
 */
export function stageGroups(r: CriticRows, least: number): StageGroup[] {
  const K = r.folds;
  let stages = 0;
  for (const s of r.rows) stages = Math.max(stages, r.stage[s]! + 1);
  const counts = new Int32Array(stages * K);
  for (const s of r.rows) {
    const at = r.stage[s]! * K + r.fold[s]!;
    counts[at] = counts[at]! + 1;
  }
  let own = 0;
  while (own < stages && leastTraining(counts.subarray(own * K, (own + 1) * K)) >= least) own++;
  const pool = new Int32Array(K);
  for (let k = own; k < stages; k++) add(pool, counts, k);
  while (own < stages && own > 0 && leastTraining(pool) < least) add(pool, counts, --own);
  const groups = Math.min(own + 1, stages);
  const sizes = new Int32Array(groups);
  for (const s of r.rows) sizes[Math.min(r.stage[s]!, own)]!++;
  const rows = Array.from(sizes, (n) => new Int32Array(n));
  sizes.fill(0);
  for (const s of r.rows) {
    const g = Math.min(r.stage[s]!, own);
    rows[g]![sizes[g]!++] = s;
  }
  return rows.map((of, g) => ({
    from: g,
    to: g === own ? stages - 1 : g,
    pooled: g === own && own < stages - 1,
    rows: of,
  }));
}

function add(pool: Int32Array, counts: Int32Array, stage: number): void {
  for (let m = 0; m < pool.length; m++) pool[m] = pool[m]! + counts[stage * pool.length + m]!;
}

/** Rows of the smallest training part. */
function leastTraining(byFold: Int32Array): number {
  let total = 0;
  let most = 0;
  for (const n of byFold) {
    total += n;
    most = Math.max(most, n);
  }
  return total - most;
}
