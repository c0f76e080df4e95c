import { Ending, type EpisodeInput } from '../../schema/episode.ts';
import { type FormatEpisode, type LogFormat, type RecordContext, RecordError } from '../log-format.ts';
import { anthropicMessages, looksAnthropic } from './chat-anthropic.ts';
import { openaiMessages, textOfContent } from './chat-openai.ts';
import {
  asCountOrNull,
  asFields,
  asFieldsOrNull,
  asInstantOrNull,
  asList,
  asNameOrNull,
  asNumberOrNull,
  type Fields,
  field,
  isFields,
  stem,
} from './fields.ts';
import { type Message, saysItFailed, turnsOfMessages } from './messages.ts';
import { namedRewards, weightedSum } from './named-rewards.ts';

/** Columns that hold the right answer, in the names data sets give it: fenced off. */
const GOLD = [
  'answer',
  'gold',
  'ground_truth',
  'label',
  'reference',
  'reference_answer',
  'solution',
  'target',
];
const ENDINGS: ReadonlySet<unknown> = new Set(Ending.options);

/**
 * Chat with tools, one conversation a line or an element of a JSON array, in OpenAI's shape or Anthropic's, with columns beside the
 * messages: reward, rewards {name: score | {score, weight}}, task_id | prompt_id | group_id,
 * episode_id | id, trial, policy | model, ending, cost, started_at, ended_at, metadata. Any other
 * column goes to meta under its own name, `tools` as the tools' names, a gold answer to the fence.
 *
 * - No id: `file#line`. No reward: null, or the weighted sum of `rewards`; the ending is then left
 *   open. The conversation's reward is paid at its end.
 * - A call failed where its answer says so (is_error, error), starts with "Error", or is a JSON object
 *   whose `error` is set; where it says nothing, it is unknown (null), not a success.
 * - Reasoning is not part of the action; how many turns had some is in meta, and so is how many had
 *   log-probabilities that do not cover the action (no Σ log b is kept for those).
 */
export const chat: LogFormat = {
  name: 'chat',
  units: ['line', 'element'],
  recognise(first) {
    if (!isFields(first) || !Array.isArray(field(first, 'messages'))) return 0;
    // Other formats hold messages too; each has a field of its own beside them.
    if (['turns', 'traj', 'steps', 'trajectory_format'].some((key) => field(first, key) !== undefined))
      return 0;
    return 0.9;
  },
  read: (record, context) => [readConversation(asFields(record, 'record'), context)],
};

const READ: ReadonlySet<string> = new Set([
  ...['messages', 'system', 'tools', 'reward', 'rewards', 'task_id', 'prompt_id', 'group_id', 'episode_id'],
  ...['id', 'trial', 'policy', 'model', 'ending', 'cost', 'started_at', 'ended_at', 'metadata', ...GOLD],
]);

function readConversation(record: Fields, context: RecordContext): FormatEpisode {
  const found = turnsOfMessages(messagesOf(record), saysItFailed);
  const rewards = namedRewards(field(record, 'rewards'));
  const reward = asNumberOrNull(field(record, 'reward'), 'reward');
  const name = firstName(record, ['episode_id', 'id']) ?? `${stem(context.path)}#${context.ordinal + 1}`;
  const ending = field(record, 'ending') ?? undefined;
  if (ending !== undefined && !ENDINGS.has(ending))
    throw new RecordError(`ending is not one of ${Ending.options.join(', ')}`, 'ending');

  const meta: [string, unknown][] = Object.entries(record).filter(([key]) => !READ.has(key));
  for (const entry of Object.entries(asFieldsOrNull(field(record, 'metadata'), 'metadata') ?? {}))
    meta.push(entry);
  const tools = field(record, 'tools');
  if (Array.isArray(tools) && tools.length > 0) meta.push(['tools', tools.map(toolName)]);
  if (found.reasoningTurns > 0) meta.push(['reasoning_turns', found.reasoningTurns]);
  if (found.partialLogprobTurns > 0) meta.push(['partial_logprob_turns', found.partialLogprobTurns]);
  if (found.finalObservation !== null) meta.push(['final_observation', found.finalObservation]);

  const episode: EpisodeInput = {
    episode_id: name,
    task_id: firstName(record, ['task_id', 'prompt_id', 'group_id']),
    trial: asCountOrNull(field(record, 'trial'), 'trial'),
    policy: firstName(record, ['policy', 'model']),
    ...(ending === undefined ? {} : { ending: ending as Ending }),
    reward: reward ?? weightedSum(rewards),
    rewards,
    started_at: asInstantOrNull(field(record, 'started_at'), 'started_at'),
    ended_at: asInstantOrNull(field(record, 'ended_at'), 'ended_at'),
    cost: asNumberOrNull(field(record, 'cost'), 'cost'),
    meta: meta.length === 0 ? null : Object.fromEntries(meta),
    turns: found.turns,
  };
  const gold = GOLD.filter((key) => Object.hasOwn(record, key)).map((key) => [key, record[key]] as const);
  return gold.length === 0 ? { episode } : { episode, fenced: Object.fromEntries(gold) };
}

function messagesOf(record: Fields): Message[] {
  const list = asList(field(record, 'messages'), 'messages');
  const messages = looksAnthropic(list)
    ? anthropicMessages(list, 'messages')
    : openaiMessages(list, 'messages');
  const system = textOfContent(field(record, 'system'), 'system');
  if (system === null) return messages;
  const prompt: Message = {
    role: 'system',
    text: system,
    calls: [],
    results: [],
    reasoning: false,
    tokens: null,
    logprobs: null,
  };
  return [prompt, ...messages];
}

function firstName(record: Fields, keys: readonly string[]): string | null {
  for (const key of keys) {
    const name = asNameOrNull(field(record, key), key);
    if (name !== null) return name;
  }
  return null;
}

/** OpenAI nests the name under `function`. */
function toolName(tool: unknown): unknown {
  if (!isFields(tool)) return null;
  const nested = field(tool, 'function');
  return (isFields(nested) ? field(nested, 'name') : field(tool, 'name')) ?? null;
}
