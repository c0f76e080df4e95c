import { choice, random, uniform } from '../src/math/random.ts';
import { ENDINGS } from '../src/schema/episode.ts';
import {
  ACTIONS,
  HORIZON,
  NEXT,
  QUALITIES,
  START,
  SUBMIT,
  SUCCESS,
  TOOL_AGENT_POLICIES,
  type ToolAgentPolicy,
  TURN_REWARD,
} from '../src/simulate/tool-agent-law.ts';
import { setCode } from '../src/trajectories/coder.ts';
import {
  episodesFilled,
  episodesFilling,
  turnsFilled,
  turnsFilling,
  wholeIndex,
} from '../src/trajectories/columns.ts';
import type { Trajectories } from '../src/trajectories/trajectories.ts';
import type { LogRatios } from '../src/weights/ratios.ts';

const CLASSES: readonly string[] = ACTIONS;
const CELLS = Array.from(
  { length: HORIZON * QUALITIES },
  (_, x) => `turn ${Math.floor(x / QUALITIES)}, q = ${x % QUALITIES}`,
);

/** Logs of the behaviour in the tool-agent world with the state of each turn, without a record in between. */
export interface ToolAgentLogs {
  readonly trajectories: Trajectories;
  readonly cell: Int32Array; // [turns] turn · 3 + q
}

/** `tasks` tasks, each with a start state drawn for it (as `simulateToolAgent` with `starts: 'drawn'`) and `trials` rollouts. */
export function toolAgentLogs(tasks: number, trials: number, seed: number): ToolAgentLogs {
  const n = tasks * trials;
  const rng = random(seed, 'coverage');
  const b = TOOL_AGENT_POLICIES.behaviour;
  const offsets = new Int32Array(n + 1);
  const cells = new Int32Array(n * HORIZON);
  const actions = new Uint8Array(n * HORIZON);
  const episodes = episodesFilling(n);
  let s = 0;
  for (let task = 0, i = 0; task < tasks; task++) {
    const start = choice(rng, START);
    for (let trial = 0; trial < trials; trial++, i++) {
      let q = start;
      let reward = 0;
      let ending: (typeof ENDINGS)[number] = 'limit';
      for (let t = 0; t < HORIZON; t++) {
        const a = choice(rng, b(t, q));
        cells[s] = t * QUALITIES + q;
        actions[s++] = a;
        if (a === SUBMIT) {
          reward = uniform(rng) < SUCCESS[q]! ? 1 : 0;
          ending = 'terminated';
          break;
        }
        q = choice(rng, NEXT[a]![q]!);
      }
      episodes.id[i] = String(i);
      episodes.episode[i] = i;
      setCode(episodes.task, i, String(task));
      episodes.ending[i] = ENDINGS.indexOf(ending);
      episodes.reward[i] = reward;
      offsets[i + 1] = s;
    }
  }
  const cell = cells.slice(0, s);
  const turns = turnsFilling(s);
  for (let i = 0; i < n; i++)
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) {
      const t = k - offsets[i]!;
      turns.turn[k] = t;
      turns.reward[k] = TURN_REWARD[actions[k]!]!;
      turns.behaviourLogPropensity[k] = Math.log(b(t, cell[k]! % QUALITIES)[actions[k]!]!);
      setCode(turns.actionClass, k, CLASSES[actions[k]!]!);
    }
  return {
    trajectories: {
      index: wholeIndex(n),
      episodeOffsets: offsets,
      episodes: episodesFilled(episodes),
      turns: turnsFilled(turns),
      features: null,
      tokens: null,
    },
    cell,
  };
}

/** Log-ratios of a policy on such logs. */
export function toolAgentRatios(
  { trajectories, cell }: ToolAgentLogs,
  target: string,
  policy: ToolAgentPolicy,
): LogRatios {
  const { codes, values: seen } = trajectories.turns.actionClass;
  const classes = [...seen, ...CLASSES.filter((c) => !seen.includes(c))];
  const probabilities = Float64Array.from({ length: CELLS.length * classes.length }, (_, k) => {
    const x = Math.floor(k / classes.length);
    const a = CLASSES.indexOf(classes[k % classes.length]!);
    return policy(Math.floor(x / QUALITIES), x % QUALITIES)[a]!;
  });
  return {
    target,
    measure: 'log_propensity',
    trainedOn: 'none',
    trajectories,
    values: trajectories.turns.behaviourLogPropensity.map(
      (log, s) => Math.log(probabilities[cell[s]! * classes.length + codes[s]!]!) - log,
    ),
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: { cell, cells: CELLS, classes, probabilities },
  };
}
