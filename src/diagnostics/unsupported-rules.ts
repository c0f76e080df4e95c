/*
 * Readable rules for the region where the target lacks support: for a class a, conjunctions of at
 * most two conditions on the turn that cover most of
 *
 *   m_a = (1/n) Σ w_{t−1} π(a | h_t) 1{b(a | h_t) < α}
 *
 * and hold at few turns where a is supported. Beam search over conjunctions by the harmonic mean of
 * coverage (share of the mass not yet covered) and purity (share of the rule's logged turns at which
 * a is unsupported); ties go to fewer conditions, then more turns, then the order of conditions. What
 * a rule covers is taken out and the search repeated. Deterministic. In the manner of OverRule
 * (Oberst et al. 2020), without its learning problem.
 *
 * Departures: without the behaviour's probabilities a class counts as unsupported where the logs
 * never show it in the target's own cell.
 */
import type { UnsupportedRule } from '../schema/diagnostics.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { type Condition, ruleConditions } from './rule-conditions.ts';
import { type Groups, groupTurns } from './unsupported-groups.ts';

export interface RuleOptions {
  /** A class is barely supported below this propensity. Default 0.01. */
  readonly alpha?: number;
  readonly states?: SparseRows | undefined;
  /** Rules are sought until they cover this share of the mass. Default 0.9. */
  readonly cover?: number;
  readonly most?: number;
}

const BEAM = 24;
/** A rule that covers less, or is less often right, is not worth reading. */
const LEAST_SHARE = 0.02;
const LEAST_PURITY = 0.5;
const ROUNDING = 1e-12;

/** Empty where everything the target does is supported; null where its other probabilities are not known. */
export function unsupportedRules(
  ratios: LogRatios,
  w: EpisodeWeights,
  { alpha = 0.01, states, cover = 0.9, most = 5 }: RuleOptions = {},
): UnsupportedRule[] | null {
  const { table } = ratios;
  if (table === null) return null;
  const rows = weightedRows(w);
  const { codes, sizes, conditions: all } = ruleConditions(w.trajectories, rows, states);
  const groups = groupTurns(ratios, w, rows, codes, sizes, alpha);
  const conditions = all.filter((c) => groups.kept[c.covariate]);
  const total = groups.mass.reduce((a, b) => a + b, 0);
  const left = Float64Array.from(groups.mass);
  const out: UnsupportedRule[] = [];
  if (!(total > ROUNDING)) return out;
  const A = table.classes.length;
  let covered = 0;
  while (out.length < most && covered < cover * total) {
    const a = heaviest(left, A);
    const found = bestRule(groups, conditions, left, a, A);
    if (found === null || found.mass < LEAST_SHARE * total || found.purity < LEAST_PURITY) break;
    for (const g of found.groups) left[g * A + a] = 0;
    covered += found.mass;
    const actionClass = table.classes[a]!;
    const where = found.conditions.map((c) => c.text);
    out.push({
      rule: `${where.join(' and ') || 'anywhere'}: ${found.taken} of ${found.turns} logged turns take ${actionClass}`,
      conditions: where,
      actionClass,
      taken: found.taken,
      turns: found.turns,
      mass: found.mass,
      share: found.mass / total,
      purity: found.purity,
    });
  }
  return out;
}

interface Candidate {
  readonly conditions: readonly Condition[];
  readonly groups: readonly number[];
  readonly mass: number;
  readonly turns: number;
  readonly taken: number;
  readonly purity: number;
  readonly score: number;
}

function bestRule(
  groups: Groups,
  conditions: readonly Condition[],
  left: Float64Array,
  a: number,
  A: number,
): Candidate | null {
  let open = 0;
  for (let g = 0; g < groups.count; g++) open += left[g * A + a]!;
  if (!(open > 0)) return null;
  const everywhere = Array.from({ length: groups.count }, (_, g) => g);
  const evaluate = (within: readonly number[], by: readonly Condition[]): Candidate => {
    const last = by.at(-1);
    const kept =
      last === undefined ? within : within.filter((g) => last.meets[groups.codes[last.covariate]![g]!] === 1);
    let mass = 0;
    let turns = 0;
    let taken = 0;
    let pure = 0;
    for (const g of kept) {
      mass += left[g * A + a]!;
      turns += groups.turns[g]!;
      taken += groups.taken[g * A + a]!;
      pure += groups.unsupported[g * A + a]!;
    }
    const purity = turns === 0 ? 0 : pure / turns;
    const coverage = mass / open;
    const score = mass > 0 ? (2 * coverage * purity) / (coverage + purity) : 0;
    return { conditions: by, groups: kept, mass, turns, taken, purity, score };
  };
  const whole = evaluate(everywhere, []);
  const singles = conditions.map((c) => evaluate(everywhere, [c]));
  const beam = singles
    .filter((c) => c.mass > 0)
    .sort(better)
    .slice(0, BEAM);
  const pairs = beam.flatMap((first) =>
    conditions
      .filter((c) => c !== first.conditions[0])
      .map((c) => evaluate(first.groups, [first.conditions[0]!, c]))
      .filter((c) => c.mass > 0),
  );
  const place = new Map(conditions.map((c, i) => [c, i]));
  const inOrder = (c: Candidate): Candidate => ({
    ...c,
    conditions: [...c.conditions].sort((x, y) => place.get(x)! - place.get(y)!),
  });
  return inOrder([whole, ...singles, ...pairs].reduce((best, c) => (better(c, best) < 0 ? c : best)));
}

/** Negative where x is the better rule. */
function better(x: Candidate, y: Candidate): number {
  if (Math.abs(x.score - y.score) > ROUNDING) return y.score - x.score;
  return x.conditions.length - y.conditions.length || y.turns - x.turns;
}

function heaviest(left: Float64Array, A: number): number {
  const byClass = new Float64Array(A);
  for (let i = 0; i < left.length; i++) byClass[i % A] = byClass[i % A]! + left[i]!;
  return byClass.indexOf(byClass.reduce((most, x) => Math.max(most, x), -Infinity));
}

function weightedRows(w: EpisodeWeights): Int32Array {
  const rows = new Int32Array(w.offsets[w.n]!);
  const { index, episodeOffsets } = w.trajectories;
  for (let i = 0; i < w.n; i++)
    for (let k = w.offsets[i]!, s = episodeOffsets[index[i]!]!; k < w.offsets[i + 1]!; k++, s++) rows[k] = s;
  return rows;
}
