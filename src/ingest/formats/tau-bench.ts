import type { Ending, EpisodeInput } from '../../schema/episode.ts';
import type { FormatEpisode, LogFormat, RecordContext } from '../log-format.ts';
import type { FormatNote } from '../notes.ts';
import { openaiMessages } from './chat-openai.ts';
import {
  asCountOrNull,
  asFields,
  asFieldsOrNull,
  asNameOrNull,
  asNumberOrNull,
  type Fields,
  field,
  isFields,
  stem,
} from './fields.ts';
import { type Message, turnsOfMessages } from './messages.ts';
import { domainOf } from './tau-domain.ts';
import { withTextCalls } from './text-calls.ts';
import { tolerant } from './tolerant.ts';
import { aboutTurns, turnNotes } from './turn-notes.ts';

/** Assistant turns a run gets: `max_num_steps` of tau-bench's own agents. */
const MAX_NUM_STEPS = 30;
/** What the simulated user says when it is done. */
const STOP = '###STOP###';
/** Tools that end a run, in every domain of tau-bench. */
const TERMINAL_TOOLS: ReadonlySet<string> = new Set(['transfer_to_human_agents']);

/**
 * tau-bench results: an array of {task_id, reward, info {task, source, user_cost, reward_info}, traj
 * (OpenAI messages), trial}, one file a run of one agent. Source: sierra-research/tau-bench.
 *
 * - Ids: the episode is `file/task/trial`; the policy is the file's name, since nothing inside says
 *   it. Task numbers start over in every domain, so the task carries its own: `airline/3` (tau-domain.ts).
 * - Ending: `aborted` where info.error is set (the harness writes reward 0 for a crash: no reward).
 *   `terminated` where the run ended by itself: reward_info is there (it is computed only then), or
 *   the last message holds ###STOP###, or the last assistant message calls a terminal tool
 *   (transfer_to_human_agents). Otherwise `limit` from 30 assistant turns on, and below that
 *   `truncated` where reward_info is null, `terminated` where it is not logged. A run without reward
 *   has no ending of its own.
 * - Every answer comes from the benchmark's own code, so one that does not say that the call failed
 *   (tool-outcome.ts) is a success. The text agents' `Action: {json}` is a call (text-calls.ts).
 * - Fenced off: the user's instruction, the gold actions and outputs, and how the reward was found.
 * - user_cost is what the simulated user cost, not the rollout: meta.
 */
export const tauBench: LogFormat = {
  name: 'tau-bench',
  units: ['element'],
  recognise(first) {
    if (!isFields(first) || !Array.isArray(field(first, 'traj'))) return 0;
    return field(first, 'task_id') !== undefined && field(first, 'reward') !== undefined ? 1 : 0.5;
  },
  read: async (record, context) => [await readRun(asFields(record, 'record'), context)],
};

async function readRun(run: Fields, context: RecordContext): Promise<FormatEpisode> {
  const task = asNameOrNull(field(run, 'task_id'), 'task_id');
  const notes: FormatNote[] = [];
  const trial = tolerant(notes, 'trial', (at) => asCountOrNull(field(run, 'trial'), at));
  const reward = asNumberOrNull(field(run, 'reward'), 'reward');
  const info = tolerant(notes, 'info', (at) => asFieldsOrNull(field(run, 'info'), at)) ?? {};
  const goal = tolerant(notes, 'info.task', (at) => asFieldsOrNull(field(info, 'task'), at)) ?? {};
  const messages = withTextCalls(openaiMessages(field(run, 'traj'), 'traj', notes));
  const found = turnsOfMessages(messages, true);
  const { turns } = found;
  const crash = field(info, 'error') ?? null;
  const ending = endingOf(messages, turns.length, info);
  const name = stem(context.path);
  const domain = task === null ? null : await domainOf(run, info, messages, context);
  const named = domain !== null && !task!.toLowerCase().startsWith(domain);

  const meta: Record<string, unknown> = {};
  const userCost = tolerant(notes, 'info.user_cost', (at) => asNumberOrNull(field(info, 'user_cost'), at));
  const userId = tolerant(notes, 'info.task.user_id', (at) => asNameOrNull(field(goal, 'user_id'), at));
  put(meta, 'user_cost', userCost);
  put(meta, 'user_id', userId);
  for (const [key, value] of aboutTurns(found)) meta[key] = value;
  if (crash !== null) Object.assign(meta, { error: crash, logged_reward: reward });

  const episode: EpisodeInput = {
    episode_id: `${name}/${task ?? '-'}/${trial ?? `#${context.ordinal}`}`,
    task_id: named ? `${domain}/${task}` : task,
    trial,
    policy: name,
    reward: ending === 'aborted' ? null : reward,
    ...(ending === 'aborted' || reward !== null ? { ending } : {}),
    meta,
    turns,
  };
  const fenced: Record<string, unknown> = {};
  for (const key of ['instruction', 'actions', 'outputs']) put(fenced, `task.${key}`, field(goal, key));
  put(fenced, 'reward_info', field(info, 'reward_info'));
  return { episode, fenced, notes: [...notes, ...turnNotes(found)] };
}

function endingOf(messages: readonly Message[], turns: number, info: Fields): Ending {
  if ((field(info, 'error') ?? null) !== null) return 'aborted';
  const rewardInfo = field(info, 'reward_info');
  const lastCalls = messages.findLast((m) => m.role === 'assistant')?.calls ?? [];
  const stopped = messages.at(-1)?.text?.includes(STOP) ?? false;
  if (isFields(rewardInfo) || stopped || lastCalls.some((c) => TERMINAL_TOOLS.has(c.name)))
    return 'terminated';
  if (turns >= MAX_NUM_STEPS) return 'limit';
  return rewardInfo === null ? 'truncated' : 'terminated';
}

function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (value !== undefined && value !== null) target[key] = value;
}
