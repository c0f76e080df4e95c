import { Ending, type EpisodeInput } from '../../schema/episode.ts';
import { hasZone } from '../../schema/instant.ts';
import { type FormatEpisode, type LogFormat, type RecordContext, RecordError } from '../log-format.ts';
import type { FormatNote } from '../notes.ts';
import { ANTHROPIC_FIELDS, anthropicMessages, looksAnthropic } from './chat-anthropic.ts';
import { OPENAI_FIELDS, openaiMessages, textOfContent } from './chat-openai.ts';
import {
  asCountOrNull,
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
import { withoutGold } from './gold.ts';
import { messageFields } from './message-fields.ts';
import { type Message, plainMessage, turnsOfMessages } from './messages.ts';
import { namedRewards, weightedSum } from './named-rewards.ts';
import { similarColumn } from './similar-columns.ts';
import { tolerant } from './tolerant.ts';
import { aboutTurns, turnNotes } from './turn-notes.ts';

const ENDINGS: ReadonlySet<unknown> = new Set(Ending.options);

/**
 * Chat with tools, in OpenAI's shape or Anthropic's: a conversation a line, an element of a JSON array or the
 * whole file, as an object or as a bare list of its messages. Columns beside the messages: reward, rewards
 * {name: score | {score, weight}}, task_id | prompt_id | group_id, episode_id | id, trial, policy | model,
 * ending, cost, started_at, ended_at, metadata.
 *
 * - No id: `file#line`. No reward: null, or the weighted sum of `rewards`; the ending is then left
 *   open. The conversation's reward is paid at its end.
 * - Only messages that cannot be read reject a conversation. Any other field that cannot is left out, kept in
 *   meta as it was written, and noted.
 * - Any other column goes to meta under its own name and is noted, `tools` as the tools' names; right answers
 *   (gold.ts) go to the fence, from `metadata` and objects in meta too. Other fields of a message go to
 *   meta.message_fields with their turn.
 * - In OpenAI's shape nothing marks a success: a call that is not known to have failed is unknown, not a
 *   success. In Anthropic's it is one (tool-outcome.ts).
 * - Reasoning is not part of the action; how many turns had some is in meta, and so is how many had
 *   log-probabilities that do not cover the action (no Σ log b is kept for those), which turns have a
 *   stand-in among them, and how many results belong to no call.
 */
export const chat: LogFormat = {
  name: 'chat',
  units: ['line', 'element', 'document'],
  recognise(first) {
    if (Array.isArray(first)) return isConversation(first) ? 0.8 : 0;
    if (!isFields(first) || !Array.isArray(field(first, 'messages'))) return 0;
    // Other formats hold messages too; each has a field of its own beside them.
    if (['turns', 'traj', 'steps', 'trajectory_format'].some((key) => field(first, key) !== undefined))
      return 0;
    return 0.9;
  },
  read: (record, context) => [readConversation(record, context)],
};

/** A bare list of messages. */
export function isConversation(list: readonly unknown[]): boolean {
  return (
    list.length > 0 &&
    list.every(
      (m) => isFields(m) && typeof field(m, 'role') === 'string' && field(m, 'messages') === undefined,
    )
  );
}

function readConversation(given: unknown, context: RecordContext): FormatEpisode {
  const record = Array.isArray(given) && isConversation(given) ? { messages: given } : given;
  if (!isFields(record))
    throw new RecordError('record is neither an object with messages nor a list of messages');
  const notes: FormatNote[] = [];
  const list = asList(field(record, 'messages'), 'messages');
  const found = turnsOfMessages(messagesOf(record, list, notes));
  const strange = found.turns.length === 0 ? notes.find((n) => n.code === 'role-as-input') : undefined;
  if (strange !== undefined)
    throw new RecordError(
      `messages hold no turn: no role is assistant, and one is '${strange.about}', which is not known`,
      'messages',
    );
  const columns = columnsOf(record, notes);
  const { fenced, meta } = metaOf(record, columns, notes);
  const beside = messageFields(list, looksAnthropic(list) ? ANTHROPIC_FIELDS : OPENAI_FIELDS, notes);
  if (beside.length > 0) put(meta, 'message_fields', beside);
  for (const [name, value] of aboutTurns(found)) put(meta, name, value);
  notes.push(...turnNotes(found));

  const { columns: known } = columns;
  const episode: EpisodeInput = {
    ...known,
    episode_id: known.episode_id ?? `${stem(context.path)}#${context.ordinal + 1}`,
    meta: meta.size === 0 ? null : Object.fromEntries(meta),
    turns: found.turns,
  };
  return { episode, notes, ...(fenced.size === 0 ? {} : { fenced: Object.fromEntries(fenced) }) };
}

interface Columns {
  readonly columns: Partial<EpisodeInput>;
  /** Names of the columns that could not be read. */
  readonly broken: readonly string[];
  /** Names of columns in whose place another was taken (`model` beside `policy`). */
  readonly unused: readonly string[];
}

function columnsOf(record: Fields, notes: FormatNote[]): Columns {
  const broken: string[] = [];
  const unused: string[] = [];
  const read = <T>(name: string, as: (value: unknown, path: string) => T): T | null => {
    const before = notes.length;
    const value = tolerant(notes, name, (path) => as(field(record, name), path));
    if (notes.length > before) broken.push(name);
    return value;
  };
  const firstName = (...names: string[]): string | null => {
    let first: string | null = null;
    for (const name of names) {
      const value = read(name, asNameOrNull);
      if (value !== null && first !== null) unused.push(name);
      first ??= value;
    }
    return first;
  };
  const time = (name: string): string | null => {
    const instant = read(name, asInstantOrNull);
    if (instant !== null && !hasZone(field(record, name) as string))
      notes.push({ code: 'time-without-zone', about: name });
    return instant;
  };
  const rewards = read('rewards', namedRewards);
  const reward = read('reward', asNumberOrNull);
  const total = read('rewards', () => weightedSum(rewards));
  const ending = read('ending', (value, path) => {
    if (value === undefined || value === null || ENDINGS.has(value)) return (value ?? null) as Ending | null;
    throw new RecordError(`${path} is not one of ${Ending.options.join(', ')}`, path);
  });
  const columns = {
    ...optional('episode_id', firstName('episode_id', 'id')),
    task_id: firstName('task_id', 'prompt_id', 'group_id'),
    trial: read('trial', asCountOrNull),
    policy: firstName('policy', 'model'),
    ...optional('ending', ending),
    // A reward that cannot be read is not known: no sum takes its place.
    reward: reward ?? (broken.includes('reward') ? null : total),
    rewards,
    started_at: time('started_at'),
    ended_at: time('ended_at'),
    cost: read('cost', asNumberOrNull),
  };
  return { columns, broken, unused };
}

function optional<K extends string, V>(name: K, value: V | null): { [P in K]?: V } {
  return value === null ? {} : ({ [name]: value } as { [P in K]: V });
}

const READ: ReadonlySet<string> = new Set([
  ...['messages', 'system', 'tools', 'reward', 'rewards', 'task_id', 'prompt_id', 'group_id', 'episode_id'],
  ...['id', 'trial', 'policy', 'model', 'ending', 'cost', 'started_at', 'ended_at', 'metadata'],
]);

/** Everything else: right answers behind the fence, the rest in meta. */
function metaOf(record: Fields, { columns, broken, unused }: Columns, notes: FormatNote[]) {
  const fenced = new Map<string, unknown>();
  const meta = new Map<string, unknown>();
  const others = Object.entries(record).filter(([name]) => !READ.has(name));
  const given = field(record, 'metadata');
  const metadata = tolerant(notes, 'metadata', (path) => asFieldsOrNull(given, path)) ?? {};
  const kept = withoutGold(Object.fromEntries(others), '', fenced) as Fields;
  for (const [name, value] of Object.entries(kept)) {
    meta.set(name, value);
    notes.push(keptNote(name, name, columns));
  }
  for (const name of [...broken, ...unused]) meta.set(name, field(record, name));
  if (given !== undefined && given !== null && !isFields(given)) meta.set('metadata', given);
  for (const [name, value] of Object.entries(withoutGold(metadata, 'metadata', fenced) as Fields)) {
    put(meta, name, value);
    const note = keptNote(name, `metadata.${name}`, columns);
    if (note.code === 'column-looks-like') notes.push(note);
  }
  for (const path of fenced.keys()) notes.push({ code: 'gold-fenced', about: path });
  const tools = field(record, 'tools');
  if (Array.isArray(tools) && tools.length > 0) put(meta, 'tools', tools.map(toolName));
  return { fenced, meta };
}

/** A column that is kept in meta; where it looks like one that the record lacks, which. */
function keptNote(name: string, path: string, columns: Columns['columns']): FormatNote {
  const similar = similarColumn(name, path !== name);
  return similar !== undefined && (columns[similar as keyof EpisodeInput] ?? null) === null
    ? { code: 'column-looks-like', about: `${path}, kept in meta: did you mean ${similar}?` }
    : { code: 'column-kept-in-meta', about: path };
}

/** Under its own name, or where that is taken, as metadata.NAME. */
function put(meta: Map<string, unknown>, name: string, value: unknown): void {
  meta.set(meta.has(name) ? `metadata.${name}` : name, value);
}

function messagesOf(record: Fields, list: readonly unknown[], notes: FormatNote[]): Message[] {
  const messages = looksAnthropic(list)
    ? anthropicMessages(list, 'messages', notes)
    : openaiMessages(list, 'messages', notes);
  const system = tolerant(notes, 'system', (path) => textOfContent(field(record, 'system'), path));
  return system === null ? messages : [{ ...plainMessage('system'), text: system }, ...messages];
}

/** OpenAI nests the name under `function`. */
function toolName(tool: unknown): unknown {
  if (!isFields(tool)) return null;
  const nested = field(tool, 'function');
  return (isFields(nested) ? field(nested, 'name') : field(tool, 'name')) ?? null;
}
