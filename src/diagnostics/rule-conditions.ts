import { quantileSorted } from '../math/statistics.ts';
import { turnCovariate } from '../trajectories/covariate.ts';
import { featureOf } from '../trajectories/feature-columns.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

/** One condition that a rule may put on a turn, as the set of codes of its covariate that meet it. */
export interface Condition {
  readonly text: string;
  readonly covariate: number;
  readonly meets: Uint8Array; // [codes of the covariate]
}

/** Covariates of some turns as small codes, and the conditions on them. */
export interface Conditions {
  /** [covariates][rows] */
  readonly codes: readonly Int32Array[];
  readonly sizes: readonly number[];
  readonly conditions: readonly Condition[];
}

/** More distinct numbers than this are cut at quantiles. */
const DISTINCT = 16;
/** Logged features beyond these are not looked at. */
const FEATURES = 16;

/**
 * Turn number, class of the last action, last tool, logged features: what a person can read, all known
 * before the turn. O(rows × covariates).
 * @param states with columns `last_tool=…`, where there are any
 */
export function ruleConditions(t: Trajectories, rows: Int32Array, states?: SparseRows): Conditions {
  const codes: Int32Array[] = [];
  const sizes: number[] = [];
  const conditions: Condition[] = [];
  const add = (code: Int32Array, size: number, of: readonly Omit<Condition, 'covariate'>[]): void => {
    if (of.length === 0) return;
    for (const c of of) conditions.push({ ...c, covariate: codes.length });
    codes.push(code);
    sizes.push(size);
  };
  const category = (name: string, value: (row: number) => string | null): void => {
    const seen = new Map<string, number>();
    const code = rows.map((s) => {
      const v = value(s);
      if (v === null) return 0;
      const k = seen.get(v) ?? seen.size + 1;
      seen.set(v, k);
      return k;
    });
    const names = [...seen].sort(([a], [b]) => (a < b ? -1 : 1));
    const size = seen.size + 1;
    if (size > 2 || code.includes(0))
      add(
        code,
        size,
        names.map(([v, k]) => ({ text: `${name} = ${v}`, meets: only(size, (x) => x === k) })),
      );
  };
  const ordered = (name: string, value: (row: number) => number): void => {
    const x = Float64Array.from(rows, value);
    const known = x.filter((v) => !Number.isNaN(v)).sort();
    const distinct = [...new Set(known)];
    if (distinct.length < 2) return;
    const few = distinct.length <= DISTINCT;
    // Code k: the k-th cut is the last that is not above the value; 0: there is none.
    const cuts = few
      ? distinct
      : [...new Set(Array.from({ length: 10 }, (_, d) => quantileSorted(known, d / 10)))];
    const code = Int32Array.from(x, (v) => cuts.filter((cut) => v >= cut).length);
    const size = cuts.length + 1;
    const of: Omit<Condition, 'covariate'>[] = [];
    // Of conditions that hold at the same turns the first is shown: equality reads best, but not of turns.
    if (few && name !== 'turn')
      cuts.forEach((cut, i) => {
        of.push({ text: `${name} = ${text(cut)}`, meets: only(size, (k) => k === i + 1) });
      });
    cuts.forEach((cut, i) => {
      if (i === 0) return;
      of.push({ text: `${name} ≥ ${text(cut)}`, meets: only(size, (k) => k > i) });
      of.push({
        text: few ? `${name} ≤ ${text(cuts[i - 1]!)}` : `${name} < ${text(cut)}`,
        meets: only(size, (k) => k > 0 && k <= i),
      });
    });
    if (few && name === 'turn')
      cuts.forEach((cut, i) => {
        of.push({ text: `${name} = ${text(cut)}`, meets: only(size, (k) => k === i + 1) });
      });
    add(code, size, of);
  };
  ordered('turn', (s) => t.turns.turn[s]!);
  const last = turnCovariate(t, 'last_action_class');
  category('last_action_class', (s) => last(s) as string | null);
  if (states !== undefined) category('last_tool', lastTool(states));
  for (let k = 0; k < Math.min(FEATURES, widest(t)); k++) ordered(`features.${k}`, (s) => featureOf(t, s, k));
  return { codes, sizes, conditions };
}

const only = (size: number, keep: (code: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: size }, (_, k) => (keep(k) ? 1 : 0));

const text = (x: number): string => String(Number(x.toPrecision(4)));

function lastTool(states: SparseRows): (row: number) => string | null {
  const names = states.names.map((name) => (name.startsWith('last_tool=') ? name.slice(10) : null));
  return (row) => {
    for (let k = states.offsets[row]!; k < states.offsets[row + 1]!; k++) {
      const name = names[states.indices[k]!];
      if (name != null) return name;
    }
    return null;
  };
}

function widest({ features, turns }: Trajectories): number {
  let most = 0;
  if (features !== null)
    for (let s = 0; s < turns.turn.length; s++)
      most = Math.max(most, features.offsets[s + 1]! - features.offsets[s]!);
  return most;
}
