/*
 * What is kept of one task: of each policy n, x̄ and Σ(x − x̄)² over its trials, the difference
 *   d = x̄_B − x̄_A
 * and the probability that a trial of B is better than one of A, over the n_A n_B pairs,
 *   u = (#{b better than a} + ½ #{b equal to a}) / (n_A n_B)          (Mann and Whitney 1947)
 * Values closer than 1e-12 of the largest in the task are equal: returns are sums of rewards, and
 * .1 + .2 and .3 are the same outcome.
 */
const TIE = 1e-12;

/** One outcome over the tasks, [K] in the order of the scan; index 0 is A, 1 is B. */
export interface TaskTable {
  readonly n: readonly [Int32Array, Int32Array];
  readonly mean: readonly [Float64Array, Float64Array];
  /** Σ(x − x̄)² within the task; exactly 0 where all trials are equal. */
  readonly squares: readonly [Float64Array, Float64Array];
  /** NaN without both. */
  readonly difference: Float64Array;
  /** u for "higher is better"; 1 − u for the other way. NaN without both. */
  readonly higher: Float64Array;
}

export function taskTable(tasks: number): TaskTable {
  const numbers = (): Float64Array => new Float64Array(tasks).fill(Number.NaN);
  return {
    n: [new Int32Array(tasks), new Int32Array(tasks)],
    mean: [numbers(), numbers()],
    squares: [numbers(), numbers()],
    difference: numbers(),
    higher: numbers(),
  };
}

/** Fills row c from the trials of a task; sorts both in place. O(n log n). */
export function fillTask(table: TaskTable, c: number, a: Float64Array, b: Float64Array): void {
  const sides = [a.sort(), b.sort()] as const;
  const lowest = Math.min(a[0] ?? Infinity, b[0] ?? Infinity);
  const size = Math.max(
    ...sides.flatMap((x) => (x.length === 0 ? [] : [Math.abs(x[0]!), Math.abs(x.at(-1)!)])),
    0,
  );
  const above = [0, 0];
  for (const k of [0, 1] as const) {
    const x = sides[k];
    table.n[k][c] = x.length;
    if (x.length === 0) continue;
    // From the lowest value of both, so that equal trials have equal means whatever their number.
    for (const v of x) above[k]! += v - lowest;
    above[k]! /= x.length;
    table.mean[k][c] = lowest + above[k]!;
    table.squares[k][c] = x.at(-1)! - x[0]! <= TIE * size ? 0 : squares(x, lowest, above[k]!);
  }
  if (a.length === 0 || b.length === 0) return;
  const d = above[1]! - above[0]!;
  table.difference[c] = Math.abs(d) <= TIE * size ? 0 : d;
  table.higher[c] = higher(a, b, TIE * size);
}

function squares(x: Float64Array, lowest: number, centre: number): number {
  let total = 0;
  for (const v of x) total += (v - lowest - centre) ** 2;
  return total;
}

/** Share of pairs with b above a, equal ones half; both ascending. */
function higher(a: Float64Array, b: Float64Array, tie: number): number {
  let below = 0; // trials of A below b
  let upTo = 0; // and not above it
  let halves = 0;
  for (const v of b) {
    while (below < a.length && a[below]! < v - tie) below++;
    while (upTo < a.length && a[upTo]! <= v + tie) upTo++;
    halves += below + upTo;
  }
  return halves / (2 * a.length * b.length);
}
