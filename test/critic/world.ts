import { random, uniform } from '../../src/math/random.ts';
import { ENDINGS, type Ending } from '../../src/schema/episode.ts';
import type { SparseRows } from '../../src/trajectories/sparse.ts';
import type { Coded, Trajectories } from '../../src/trajectories/trajectories.ts';

/** One logged turn of the small worlds of these tests. */
export interface TestTurn {
  readonly state: number;
  readonly action: string;
  readonly reward?: number;
}

export interface TestEpisode {
  readonly id: string;
  readonly task: string | null;
  readonly ending?: Ending;
  readonly reward: number;
  readonly turns: readonly TestTurn[];
}

export interface TestWorld {
  readonly t: Trajectories;
  readonly states: SparseRows;
  readonly actions: SparseRows;
}

/** Columns of hand-made episodes, with one-hot features of state and action. */
export function worldOf(episodes: readonly TestEpisode[], states = 3): TestWorld {
  const E = episodes.length;
  const turns = episodes.flatMap((e) => e.turns);
  const S = turns.length;
  const offsets = new Int32Array(E + 1);
  episodes.forEach((e, i) => {
    offsets[i + 1] = offsets[i]! + e.turns.length;
  });
  const nan = (n: number): Float64Array => new Float64Array(n).fill(Number.NaN);
  const none = (n: number): Coded => ({ codes: new Int32Array(n).fill(-1), values: [] });
  const missing = (n: number): Int32Array => new Int32Array(n).fill(-1);
  const actionClass = coded(turns.map((s) => s.action));
  const t: Trajectories = {
    index: Int32Array.from({ length: E }, (_, i) => i),
    episodeOffsets: offsets,
    episodes: {
      episode: Float64Array.from({ length: E }, (_, i) => i),
      id: episodes.map((e) => e.id),
      source: new Int32Array(E),
      task: coded(episodes.map((e) => e.task)),
      trial: missing(E),
      policy: none(E),
      versionStart: none(E),
      versionEnd: none(E),
      ending: Uint8Array.from(episodes, (e) => ENDINGS.indexOf(e.ending ?? 'terminated')),
      reward: Float64Array.from(episodes, (e) => e.reward),
      cost: nan(E),
    },
    turns: {
      turn: Int32Array.from(episodes.flatMap((e) => e.turns.map((_, k) => k))),
      toolErrors: missing(S),
      reward: Float64Array.from(turns, (s) => s.reward ?? Number.NaN),
      processReward: nan(S),
      behaviourLogprob: nan(S),
      behaviourLogPropensity: nan(S),
      nActionTokens: missing(S),
      version: none(S),
      temperature: nan(S),
      topP: nan(S),
      topK: missing(S),
      logprobKind: none(S),
      actionClass,
    },
    features: null,
    tokens: null,
  };
  const classes = [...actionClass.values].sort();
  return {
    t,
    states: oneHot(
      turns.map((s) => s.state),
      Array.from({ length: states }, (_, q) => `q=${q}`),
    ),
    actions: oneHot(
      turns.map((s) => classes.indexOf(s.action)),
      classes.map((c) => `class=${c}`),
    ),
  };
}

const START = [0.5, 0.5, 0];
const BEHAVIOUR = [
  [0.4, 0.5, 0.1],
  [0.4, 0.3, 0.3],
  [0.2, 0.2, 0.6],
];
const SUCCESS = [0.1, 0.5, 0.9];
const ACTIONS = ['cheap', 'think', 'submit'];

/**
 * The law of ../shared/cases/agent-turns-exact under its behaviour policy: at most six turns, thinking
 * costs .05, submitting ends with a success of probability SUCCESS[q]; the sixth turn is a limit.
 */
export function agentTurns(n: number, seed: number, tasks = n): TestEpisode[] {
  const rng = random(seed, 'agent turns');
  const draw = (p: readonly number[]): number => {
    let u = uniform(rng);
    for (let k = 0; k < p.length - 1; k++) {
      if (u < p[k]!) return k;
      u -= p[k]!;
    }
    return p.length - 1;
  };
  return Array.from({ length: n }, (_, i) => {
    let q = draw(START);
    const turns: TestTurn[] = [];
    let ending: Ending = 'limit';
    let reward = 0;
    for (let k = 0; k < 6; k++) {
      const a = draw(BEHAVIOUR[q]!);
      turns.push({ state: q, action: ACTIONS[a]!, ...(a === 1 ? { reward: -0.05 } : {}) });
      if (a === 2) {
        ending = 'terminated';
        reward = uniform(rng) < SUCCESS[q]! ? 1 : 0;
        break;
      }
      if (a === 1) q = uniform(rng) < 0.5 ? q : Math.min(q + 1, 2);
      else {
        const u = uniform(rng);
        q = u < 0.75 ? q : u < 0.875 ? Math.min(q + 1, 2) : Math.max(q - 1, 0);
      }
    }
    return { id: `e${String(i).padStart(6, '0')}`, task: `t${i % tasks}`, ending, reward, turns };
  });
}

export function oneHot(codes: readonly number[], names: readonly string[]): SparseRows {
  return {
    rows: codes.length,
    columns: names.length,
    names,
    offsets: Int32Array.from({ length: codes.length + 1 }, (_, i) => i),
    indices: Int32Array.from(codes),
    values: new Float64Array(codes.length).fill(1),
  };
}

/** A dense matrix by rows, zeros left out. */
export function sparse(rows: readonly (readonly number[])[], names: readonly string[]): SparseRows {
  const offsets = new Int32Array(rows.length + 1);
  const indices: number[] = [];
  const values: number[] = [];
  rows.forEach((row, i) => {
    row.forEach((x, j) => {
      if (x === 0) return;
      indices.push(j);
      values.push(x);
    });
    offsets[i + 1] = indices.length;
  });
  return {
    rows: rows.length,
    columns: names.length,
    names,
    offsets,
    indices: Int32Array.from(indices),
    values: Float64Array.from(values),
  };
}

function coded(texts: readonly (string | null)[]): Coded {
  const places = new Map<string, number>();
  const codes = Int32Array.from(texts, (x) => {
    if (x === null) return -1;
    if (!places.has(x)) places.set(x, places.size);
    return places.get(x)!;
  });
  return { codes, values: [...places.keys()] };
}
