/*
 * What the logged actions say of the logged propensities: sums over turns by cell of the state, from which
 * propensity-evidence.ts makes e-values. A cell is known before the action is taken: the turn, the turn with the last
 * action class, the target's rule, a feature's value (with the turn), the task.
 *
 *   by cell               N, Σ log p(a), Σ ρ and Σ log(1 − λ + λ ρ)
 *   by cell and class c   n_c, Σ_{a=c} 1/p, Σ_{a=c} log(1 − λ + λ/p)
 *
 * for the bets λ of BETS. Sums of two sets of turns merge by adding. O(turns · partitions) time; memory
 * O(cells · classes), at most MOST_CELLS a partition, the others being left aside.
 */

/** Shares of the capital that are bet; their mean is taken, so that none has to be right. */
export const BETS = [0.5, 0.2, 0.08, 0.03, 0.01] as const;
const J = BETS.length;
/** Classes with sums of their own; rarer ones than the first of the logs are taken together. */
export const OWN_CLASSES = 32;
/** Features that are looked at, from the first. */
export const FEATURES_LOOKED_AT = 8;
export const MOST_CELLS = 1024;
/** Turns told apart. */
const TURNS = 64;
/** Doubles that the sums by task may take. */
const TASK_SUMS = 4e6;

/** Places in a cell: N, Σ log p, Σ ρ, bets on ρ, then by class n, Σ 1/p, bets. */
export const AT = { n: 0, logP: 1, rho: 2, rhoBets: 3, classes: 3 + J } as const;
export const OF_CLASS = { n: 0, inverse: 1, bets: 2, size: 2 + J } as const;

export interface Partition {
  readonly name: string;
  readonly cells: Map<number, Float64Array>;
}

export interface PropensityCells {
  /** Classes of the logs; 0: the actions have none with a propensity, and only ρ is looked at. */
  readonly classes: number;
  /** Kinds of cells: turn, last class, rule, features. */
  readonly partitions: readonly Partition[];
  /** By task: n by class, the others, and Σ log p; null: too many tasks. */
  readonly tasks: Map<number, Float64Array> | null;
}

/** Turns of some episodes in columns. */
export interface PropensityTurns {
  /** Runs of turns that are an episode each: from, to, task (−1: none). */
  readonly episodes: Iterable<readonly [from: number, to: number, task: number]>;
  /** log p of the action; read where there are classes. */
  readonly logP: ArrayLike<number>;
  readonly logRatios: ArrayLike<number>;
  readonly actionClass: ArrayLike<number> | null;
  readonly rule: ArrayLike<number> | null;
  /** [features] columns, NaN where not logged. */
  readonly features: readonly ArrayLike<number>[];
}

/** What is looked at, the same whether the logs are loaded or scanned. */
export interface PropensityPlan {
  readonly classes: number;
  readonly rules: boolean;
  readonly features: number;
  readonly tasks: number;
}

export const ownClasses = (classes: number): number => Math.min(classes, OWN_CLASSES);
const width = (classes: number): number =>
  AT.classes + (ownClasses(classes) + (classes > OWN_CLASSES ? 1 : 0)) * OF_CLASS.size;

export function propensityCells({ classes, rules, features, tasks }: PropensityPlan): PropensityCells {
  const partition = (name: string): Partition => ({ name, cells: new Map() });
  return {
    classes,
    partitions: [
      partition('turn'),
      ...(classes > 0 ? [partition('last action class')] : []),
      ...(rules ? [partition('rule')] : []),
      ...Array.from({ length: features }, (_, k) => partition(`features.${k}`)),
    ],
    tasks: classes > 0 && tasks * (ownClasses(classes) + 2) <= TASK_SUMS ? new Map() : null,
  };
}

export function addPropensities(sums: PropensityCells, turns: PropensityTurns): void {
  const { classes: A, partitions, tasks } = sums;
  const { logP, logRatios, actionClass, rule, features } = turns;
  const size = width(A);
  const own = ownClasses(A);
  const gains = new Float64Array(J);
  const gainsOfRho = new Float64Array(J);
  const keys = new Int32Array(partitions.length);
  for (const [from, to, task] of turns.episodes) {
    let last = -1;
    let ofTask: Float64Array | undefined;
    if (tasks !== null && task >= 0 && to > from) {
      ofTask = tasks.get(task);
      if (ofTask === undefined) {
        ofTask = new Float64Array(own + 2);
        tasks.set(task, ofTask);
      }
    }
    for (let s = from; s < to; s++) {
      const t = Math.min(s - from, TURNS - 1);
      const rho = Math.exp(logRatios[s]!);
      for (let j = 0; j < J; j++) gainsOfRho[j] = Math.log1p(BETS[j]! * (rho - 1));
      let at = 0;
      let p = 0;
      keys[p++] = t;
      if (A > 0) {
        const a = actionClass![s]!;
        at = AT.classes + Math.min(a, own) * OF_CLASS.size;
        const inverse = Math.exp(-logP[s]!);
        for (let j = 0; j < J; j++) gains[j] = Math.log1p(BETS[j]! * (inverse - 1));
        keys[p++] = t * (OWN_CLASSES + 2) + Math.min(last, OWN_CLASSES) + 1;
        last = a;
      }
      if (rule !== null) keys[p++] = rule[s]!;
      for (let k = 0; p < partitions.length; k++)
        keys[p++] = Math.min(t, 15) * BINS + binOf(features[k]![s]!);
      for (let q = 0; q < partitions.length; q++) {
        const cell = cellOf(partitions[q]!, keys[q]!, size);
        if (cell === null) continue;
        cell[AT.n] = cell[AT.n]! + 1;
        cell[AT.rho] = cell[AT.rho]! + rho;
        for (let j = 0; j < J; j++) cell[AT.rhoBets + j] = cell[AT.rhoBets + j]! + gainsOfRho[j]!;
        if (A === 0) continue;
        cell[AT.logP] = cell[AT.logP]! + logP[s]!;
        cell[at] = cell[at]! + 1;
        cell[at + OF_CLASS.inverse] = cell[at + OF_CLASS.inverse]! + Math.exp(-logP[s]!);
        for (let j = 0; j < J; j++) cell[at + OF_CLASS.bets + j] = cell[at + OF_CLASS.bets + j]! + gains[j]!;
      }
      if (ofTask !== undefined) {
        const a = actionClass![s]!;
        const place = Math.min(a, own);
        ofTask[place] = ofTask[place]! + 1;
        ofTask[own + 1] = ofTask[own + 1]! + logP[s]!;
      }
    }
  }
}

/** Adds the sums of other turns. */
export function mergePropensities(into: PropensityCells, from: PropensityCells): void {
  const size = width(into.classes);
  into.partitions.forEach((own, q) => {
    for (const [key, sums] of from.partitions[q]!.cells) addAll(cellOf(own, key, size), sums);
  });
  if (into.tasks === null || from.tasks === null) return;
  for (const [task, sums] of from.tasks) {
    const own = into.tasks.get(task);
    if (own === undefined) into.tasks.set(task, sums);
    else addAll(own, sums);
  }
}

function addAll(into: Float64Array | null, from: Float64Array): void {
  if (into !== null) for (let k = 0; k < from.length; k++) into[k] = into[k]! + from[k]!;
}

function cellOf({ cells }: Partition, key: number, size: number): Float64Array | null {
  let cell = cells.get(key);
  if (cell === undefined) {
    if (cells.size >= MOST_CELLS) return null;
    cell = new Float64Array(size);
    cells.set(key, cell);
  }
  return cell;
}

/** Bins of a feature: small whole numbers each their own, others two an octave by sign, one for what is not logged. */
export const BINS = 256;
const WHOLE = 40;
function binOf(x: number): number {
  if (Number.isNaN(x)) return 0;
  if (Number.isInteger(x) && Math.abs(x) <= WHOLE / 2) return 1 + x + WHOLE / 2;
  if (x === 0) return 1 + WHOLE / 2;
  const octave = Math.max(-25, Math.min(25, Math.floor(2 * Math.log2(Math.abs(x)))));
  return 2 + WHOLE + (x > 0 ? 51 : 0) + octave + 25;
}

/** The cell of a key in words. */
export function cellName(name: string, key: number, nameOf: (code: number) => string): string {
  if (name === 'turn') return `at turn ${key}${key === TURNS - 1 ? ' and later' : ''}`;
  if (name === 'last action class') {
    const [turn, code] = [Math.floor(key / (OWN_CLASSES + 2)), (key % (OWN_CLASSES + 2)) - 1];
    const after =
      code < 0 ? '' : code >= OWN_CLASSES ? ' after one of the rarer classes' : ` after ${nameOf(code)}`;
    return `at turn ${turn}${after}`;
  }
  if (name === 'rule') return `where rule ${key} of the target applies`;
  const [turn, bin] = [Math.floor(key / BINS), key % BINS];
  return `at turn ${turn}${turn === 15 ? ' and later' : ''} where ${name} ${binName(bin)}`;
}

function binName(bin: number): string {
  if (bin === 0) return 'is not logged';
  if (bin <= WHOLE + 1) return `= ${bin - 1 - WHOLE / 2}`;
  const sign = bin >= 2 + WHOLE + 51 ? 1 : -1;
  const octave = bin - 2 - WHOLE - (sign > 0 ? 51 : 0) - 25;
  const ends = [2 ** (octave / 2), 2 ** ((octave + 1) / 2)].map((x) => Number((sign * x).toPrecision(3)));
  return `is between ${Math.min(...ends)} and ${Math.max(...ends)}`;
}
