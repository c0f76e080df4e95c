/*
 * Where a declared target goes that the logs never went, and whether they could have.
 *
 *   mass = Σ_t E_b[w_{t−1} u(x_t)] ≈ (1/n) Σ_i Σ_{t ≤ T_i} w_{i,t−1} u(x_it),   u(x) = Σ {π(a | x) : no a was logged in x}
 *
 * the expected number of times per episode that the target takes such an action, along paths that the logs do show.
 * An action that was not logged in a cell of n turns is one of two things:
 *
 *   impossible   the propensities leave nothing for it: L(x) = 1 − Σ_{c seen} h_c ≤ .01, h_c the harmonic mean of the
 *                propensities of c where it was taken (E[1{a = c}/p] = 1 for an available c, so that h_c → E[b(c)]); or so
 *                much that it would have been drawn, (1 − L)ⁿ below 1/(1000 · cells); or no cell of the logs has it
 *   open         it had up to L(x) and was not drawn
 *
 * Of the open part it is known how much to expect: (1 − b)ⁿ for each action and cell, b = h_c where seen, L(x) evenly
 * among those not seen. More than that by three standard errors is not chance. And a target that leaves the logs with
 * probability m has a mean weight of 1 − m, which bounds m whatever the cells.
 *
 * Only as fine as the declared cells: a state that the target does not look at may hide more. O(cells · classes).
 */
import type { UnsupportedMass } from '../schema/audit.ts';
import { MANY } from '../weights/one-task.ts';

/** Sums of one cell of the target's rules. */
export interface CellSum {
  readonly name: string;
  readonly counts: Float64Array; // [classes] turns that took it
  readonly inverse: Float64Array; // [classes] Σ 1/p over them
  readonly before: readonly number[]; // [stages] Σ w_{t−1} of the turns in it
  /** The one task its turns are of; MANY. */
  readonly task: number;
  /** Whether its rule names tasks. */
  readonly ofTask: boolean;
}

/** The result, and the mass of what cannot occur at each turn, [stages]. */
export interface UnsupportedAt {
  readonly summary: UnsupportedMass;
  readonly byTurn: Float64Array | null;
  /** How far the rules tell the logged tasks apart. */
  readonly taskRules: TaskRules | null;
}

export interface TaskRules {
  /** Of the target's turns: in cells of one logged task each, or under rules that name tasks. */
  readonly share: number;
  /** Where most of them lie. */
  readonly cell: string;
  readonly cells: number;
}

const SHOWN = 10;
const NOTHING_LEFT = 0.01;
const SURELY_DRAWN = 1e-3;
/** Standard errors beyond which more is open than chance leaves. */
const CHANCE = 3;
/** One-sided 95 %. */
const UPPER = 1.6448536269514722;

export interface SplitInput {
  readonly cells: readonly CellSum[];
  /** π by class of a cell, [classes]. */
  readonly pi: (cell: number) => Float64Array;
  readonly classes: readonly string[];
  /** Classes of the logs come first. */
  readonly logged: number;
  readonly n: number;
  readonly stages: number;
  /** Of the final weights. */
  readonly meanWeight: { readonly mean: number; readonly se: number };
}

export function splitUnsupported(input: SplitInput): UnsupportedAt {
  const { cells, classes, logged, n, stages, meanWeight } = input;
  const byTurn = new Float64Array(stages);
  const found: { cell: string; actions: string[]; mass: number }[] = [];
  let [mass, open, expected, variance] = [0, 0, 0, 0];
  cells.forEach(({ name, counts, inverse, before }, x) => {
    const pi = input.pi(x);
    const turns = counts.reduce((a, b) => a + b, 0);
    const reached = before.reduce((a, b) => a + b, 0) / n; // Σ_t E[w_{t−1} 1{x_t = x}]
    if (reached === 0) return;
    const h = counts.map((c, a) => (c > 0 ? c / inverse[a]! : 0));
    const left = Math.max(0, 1 - h.reduce((a, b) => a + b, 0));
    const unseen = counts.reduce((k, c, a) => (c === 0 && a < logged ? k + 1 : k), 0);
    const couldHide = left > NOTHING_LEFT && (1 - left) ** turns * cells.length >= SURELY_DRAWN;
    const actions: string[] = [];
    let own = 0;
    for (let a = 0; a < pi.length; a++) {
      if (!(pi[a]! > 0)) continue;
      const isOpen = couldHide && a < logged && counts[a] === 0;
      if (counts[a] === 0 && !isOpen) {
        actions.push(classes[a]!);
        own += pi[a]!;
        continue;
      }
      const b = counts[a]! > 0 ? Math.min(1, h[a]!) : left / unseen;
      const chance = (1 - b) ** turns;
      expected += reached * pi[a]! * chance;
      variance += (reached * pi[a]!) ** 2 * chance * (1 - chance);
      if (isOpen) open += reached * pi[a]!;
    }
    if (own === 0) return;
    mass += own * reached;
    before.forEach((w, t) => {
      byTurn[t] = byTurn[t]! + (own * w) / n;
    });
    found.push({ cell: name, actions, mass: own * reached });
  });
  found.sort((a, b) => b.mass - a.mass);
  const excess = open > 0 ? (open - expected) / Math.sqrt(variance) : 0;
  const bound = Math.max(0, 1 - meanWeight.mean + UPPER * meanWeight.se);
  const summary: UnsupportedMass = {
    mass,
    reason: null,
    cells: found.slice(0, SHOWN),
    open: {
      mass: open,
      expected,
      excess: Number.isFinite(excess) ? excess : null,
      beyondChance: excess > CHANCE,
      bound: Number.isFinite(bound) ? Math.min(open, bound) : open,
    },
  };
  return { summary, byTurn, taskRules: taskRules(cells) };
}

function taskRules(cells: readonly CellSum[]): TaskRules {
  let [own, all, most] = [0, 0, 0];
  let cell = '';
  let count = 0;
  for (const { name, before, task, ofTask } of cells) {
    const reached = before.reduce((a, b) => a + b, 0);
    all += reached;
    if (task === MANY && !ofTask) continue;
    own += reached;
    count++;
    if (reached > most) [most, cell] = [reached, name];
  }
  return { share: all > 0 ? own / all : 0, cell, cells: count };
}

/** Of a target whose probabilities of other actions are not known. */
export const unknownMass = (): UnsupportedAt => ({
  summary: {
    mass: null,
    reason: 'recorded scores give the probability of logged actions only, not of the ones never taken',
    cells: [],
    open: null,
  },
  byTurn: null,
  taskRules: null,
});
