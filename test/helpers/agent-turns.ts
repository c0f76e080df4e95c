/*
 * The law of the fixture agent-turns-exact: up to 6 turns, state q in {0, 1, 2}, a known stochastic
 * behaviour. Stated here once more, so that no expected value comes from the code under test.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PolicyFile } from '../../src/policy/policy-file.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { Episode, type EpisodeInput } from '../../src/schema/episode.ts';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import type { Trajectories } from '../../src/trajectories/trajectories.ts';

export const ACTIONS = ['cheap', 'think', 'submit'] as const;
type Action = (typeof ACTIONS)[number];
const H = 6;
const SUCCESS = [0.1, 0.5, 0.9];
const BEHAVIOUR: readonly Record<Action, number>[] = [
  { cheap: 0.4, think: 0.5, submit: 0.1 },
  { cheap: 0.4, think: 0.3, submit: 0.3 },
  { cheap: 0.2, think: 0.2, submit: 0.6 },
];
const COST = { cheap: 0, think: -0.05 };

function next(q: number, a: 'cheap' | 'think'): [q: number, p: number][] {
  const up = Math.min(q + 1, 2);
  const down = Math.max(q - 1, 0);
  return a === 'cheap'
    ? [
        [q, 0.75],
        [up, 0.125],
        [down, 0.125],
      ]
    : [
        [q, 0.5],
        [up, 0.5],
      ];
}

const only = (a: Action) => ({ [a]: 1 });
const half = (q: number, a: Action) =>
  Object.fromEntries(ACTIONS.map((x) => [x, (BEHAVIOUR[q]![x] + (x === a ? 1 : 0)) / 2]));

const RULES = {
  behaviour: [0, 1, 2].map((q) => ({ when: { 'features.0': q }, probabilities: BEHAVIOUR[q]! })),
  patient: [
    { when: { turn: H - 1 }, probabilities: only('submit') },
    { when: { 'features.0': 2 }, probabilities: only('submit') },
    { probabilities: only('think') },
  ],
  soft: [
    ...[0, 1, 2].map((q) => ({ when: { turn: H - 1, 'features.0': q }, probabilities: half(q, 'submit') })),
    { when: { 'features.0': 2 }, probabilities: half(2, 'submit') },
    ...[0, 1].map((q) => ({ when: { 'features.0': q }, probabilities: half(q, 'think') })),
  ],
  eager: [{ probabilities: only('submit') }],
};
export type PolicyName = keyof typeof RULES;
export const POLICIES = Object.keys(RULES) as PolicyName[];

/** The four policies of the case as policy files. */
export function policyFile(name: PolicyName, trained_on: PolicyFile['trained_on'] = 'none'): PolicyFile {
  return checkPolicyFile({ policy: name, trained_on, rules: RULES[name] });
}

interface Step {
  readonly q: number;
  readonly a: Action;
  readonly r: number;
}
/** A whole rollout with its probability under the behaviour. */
export interface Path {
  readonly steps: readonly Step[];
  readonly p: number;
}

/** Every rollout that the behaviour can make. */
export function allPaths(): Path[] {
  const out: Path[] = [];
  const walk = (t: number, q: number, steps: readonly Step[], p: number): void => {
    for (const a of ACTIONS) {
      const pa = p * BEHAVIOUR[q]![a];
      if (a === 'submit')
        for (const y of [0, 1])
          out.push({ steps: [...steps, { q, a, r: y }], p: pa * (y === 1 ? SUCCESS[q]! : 1 - SUCCESS[q]!) });
      else if (t === H) out.push({ steps: [...steps, { q, a, r: COST[a] }], p: pa });
      else for (const [k, pk] of next(q, a)) walk(t + 1, k, [...steps, { q, a, r: COST[a] }], pa * pk);
    }
  };
  for (const q of [0, 1]) walk(1, q, [], 0.5);
  return out;
}

/** One rollout of the behaviour; `u` gives uniform numbers. */
export function draw(u: () => number): Step[] {
  const pick = <T>(choices: readonly (readonly [T, number])[]): T => {
    let x = u();
    for (const [value, p] of choices) if ((x -= p) < 0) return value;
    return choices.at(-1)![0];
  };
  let q = u() < 0.5 ? 0 : 1;
  const steps: Step[] = [];
  for (let t = 1; t <= H; t++) {
    const a = pick(ACTIONS.map((x) => [x, BEHAVIOUR[q]![x]] as const));
    if (a === 'submit') {
      steps.push({ q, a, r: u() < SUCCESS[q]! ? 1 : 0 });
      break;
    }
    steps.push({ q, a, r: COST[a] });
    q = pick(next(q, a));
  }
  return steps;
}

/** A rollout as a log record. */
export function episodeOf(
  steps: readonly Step[],
  id: number | string,
  task: string | null = null,
): EpisodeInput {
  return {
    episode_id: String(id),
    task_id: task,
    ending: steps.at(-1)!.a === 'submit' ? 'terminated' : 'limit',
    turns: steps.map(({ q, a, r }) => ({
      reward: r,
      action_class: a,
      behaviour_log_propensity: Math.log(BEHAVIOUR[q]![a]),
      features: [q],
    })),
  };
}

export const trajectoriesOf = (episodes: readonly EpisodeInput[]): Trajectories =>
  trajectoriesFromEpisodes(episodes.map((e) => Episode.parse(e)));

/** The 500 rollouts of the fixture, each its own cluster. */
export function sample(): EpisodeInput[] {
  const byId = new Map<string, Step[]>();
  for (const line of fixture('agent-turns-exact.csv')) {
    const [id, , q, a, r] = line;
    byId.set(id!, [...(byId.get(id!) ?? []), { q: Number(q), a: a as Action, r: Number(r) }]);
  }
  return [...byId].map(([id, steps]) => episodeOf(steps, id));
}

/** `tasks` tasks with `each` simulated rollouts. */
export function simulated(tasks: number, each: number, seed: number): EpisodeInput[] {
  const u = uniform(seed);
  return Array.from({ length: tasks * each }, (_, i) => episodeOf(draw(u), i, `task-${i % tasks}`));
}

/** Park and Miller's generator: plenty for a test, and independent of the library's own. */
export function uniform(seed: number): () => number {
  let s = (seed % 2147483646) + 1;
  const u = () => (s = (16807 * s) % 2147483647) / 2147483647;
  for (let i = 0; i < 10; i++) u();
  return u;
}

/** Data lines of a CSV fixture, split. */
export function fixture(name: string): string[][] {
  const text = readFileSync(resolve(import.meta.dirname, '../fixtures', name), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
}
