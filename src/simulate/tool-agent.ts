import { choice, integer, type Random, random, uniform } from '../math/random.ts';
import type { EpisodeInput } from '../schema/episode.ts';
import {
  ACTIONS,
  CHEAP,
  HORIZON,
  NEXT,
  START,
  SUBMIT,
  SUCCESS,
  TOOL_AGENT_POLICIES,
  type ToolAgentPolicyName,
  TURN_REWARD,
} from './tool-agent-law.ts';

export interface ToolAgentConfig {
  readonly tasks: number;
  /** In all, spread evenly over the tasks. */
  readonly episodes: number;
  readonly seed: number;
  /** Who acts; default `behaviour`. */
  readonly policy?: ToolAgentPolicyName;
  /**
   * How tasks get their start state:
   * - `halves` (default): tasks alternate between q₀ = 0 and 1, so that the mean over an even number of
   *   tasks has no between-task noise.
   * - `drawn`: each task draws it, as tasks sampled from a population do; intervals for "new tasks"
   *   are to be tested on this one.
   */
  readonly starts?: 'halves' | 'drawn';
}

/**
 * Rollouts of the tool-agent world (see tool-agent-law.ts) as canonical log records, in constant memory.
 * Episode (task, trial) has a random stream of its own, so that more trials, other tasks or another order
 * leave it as it was; the same tasks under another policy are a paired comparison.
 * `features` holds q, also named in words in the observation; `behaviour_log_propensity` is exact.
 */
export function* simulateToolAgent(config: ToolAgentConfig): Generator<EpisodeInput, void, undefined> {
  const { tasks, episodes, seed, policy = 'behaviour', starts = 'halves' } = config;
  const perTask = Math.floor(episodes / tasks);
  const extra = episodes % tasks; // the first tasks take one more
  for (let task = 0; task < tasks; task++) {
    const start = starts === 'halves' ? task % 2 : choice(random(seed, `start ${task}`), START);
    const trials = perTask + (task < extra ? 1 : 0);
    const name = starts === 'halves' ? `task-${digits(task, 4)}` : `task-${seed}-${digits(task, 4)}`;
    for (let trial = 0; trial < trials; trial++) yield rollout(seed, task, name, trial, start, policy);
  }
}

function rollout(
  seed: number,
  task: number,
  name: string,
  trial: number,
  start: number,
  policy: ToolAgentPolicyName,
): EpisodeInput {
  const rng = random(seed, task * 2 ** 24 + trial);
  const words = random(task, 'words'); // what a task is about does not hang on the seed
  const subject = SUBJECTS[integer(words, SUBJECTS.length)]!;
  const kind = KINDS[integer(words, KINDS.length)]!;
  const act = TOOL_AGENT_POLICIES[policy];
  const turns: EpisodeInput['turns'] = [];
  let q = start;
  let said = `Write the ${kind} on ${subject}.`;
  let reward: number | null = null;
  for (let turn = 0; turn < HORIZON && reward === null; turn++) {
    const probabilities = act(turn, q);
    const a = choice(rng, probabilities);
    const observation = `${said} Draft: ${QUALITY[q]}.`;
    const state = q;
    let failed = false;
    if (a === SUBMIT) {
      reward = uniform(rng) < SUCCESS[q]! ? 1 : 0;
    } else {
      q = choice(rng, NEXT[a]![q]!);
      // A tool that fails now and then, whatever the state: a placebo for whoever looks for causes.
      failed = a === CHEAP && uniform(rng) < 1 / 20;
      said = failed ? 'edit: spelling service unavailable.' : `${TOOLS[a]}: ${pick(rng, RESULTS[a]!)}.`;
    }
    turns.push({
      observation,
      action: pick(rng, SAYS[a]!),
      tool_calls: [{ name: TOOLS[a]!, arguments: {}, error: failed }],
      reward: TURN_REWARD[a]!,
      behaviour_log_propensity: Math.log(probabilities[a]!),
      version: VERSION,
      action_class: ACTIONS[a]!,
      features: [state],
    });
  }
  return {
    episode_id: `${policy}-${seed}-${digits(task, 4)}-${digits(trial, 3)}`,
    task_id: name,
    trial,
    policy,
    version_start: VERSION,
    version_end: VERSION,
    ending: reward === null ? 'limit' : 'terminated',
    reward: reward ?? 0,
    meta: { simulated: 'tool-agent' },
    turns,
  };
}

const VERSION = '1';
const QUALITY = ['rough', 'fair', 'good'];
const TOOLS = ['edit', 'reason', 'submit'];
const KINDS = ['summary', 'reply', 'memo', 'changelog', 'report', 'guide'];
const SUBJECTS = [
  'a refund',
  'a late train',
  'the new printer',
  'the water bill',
  'a lost parcel',
  'the audit',
];
/** What the tool answers, [action]. */
const RESULTS = [
  ['2 lines', '5 lines', 'typos', 'saved'],
  ['3 notes', 'outline', 'sources'],
];
/** What the agent says, [action]; nothing in it but the action. */
const SAYS = [
  ['Quick edit.', 'A small fix.', 'Touching up.', 'One more pass.'],
  ['Let me think.', 'Let me check.', 'One moment.'],
  ['Submitting.', 'Ready.', 'Sending it.'],
];
const digits = (n: number, width: number): string => String(n).padStart(width, '0');
const pick = (rng: Random, from: readonly string[]): string => from[integer(rng, from.length)]!;
