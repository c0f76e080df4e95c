/*
 * The airline log in the other shapes in which agents log the very same runs, so that each format meets
 * 1,164 real tool calls and their answers.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawTurn } from './raw-reader.ts';

// biome-ignore lint/suspicious/noExplicitAny: the raw JSON of a stranger, walked as it is.
type Json = any;

export interface Rewriting {
  readonly name: string;
  readonly format: string;
  /** Whether a log of this shape says of a call that it worked. */
  readonly marksSuccess: boolean;
  /** Calls and their answers stand in the texts. */
  readonly callsInText: boolean;
  /** What a turn of the log reads as its action: its text, with the calls where they are written there. */
  readonly actionOf: (turn: RawTurn) => string | null;
  /** Writes the log into the folder and returns its path. */
  write(airline: string, folder: string): string;
}

const runsOf = (path: string): Json[] => JSON.parse(readFileSync(path, 'utf8'));

/** Chat lines of policy `name`; a run that the turn limit ended has no reward_info. */
function chatLines(name: string, messagesOf: (traj: Json[]) => Json[]) {
  return (airline: string, folder: string): string => {
    const path = join(folder, `${name}.jsonl`);
    const lines = runsOf(airline).map((run) =>
      JSON.stringify({
        episode_id: `${name}/${run.task_id}/${run.trial}`,
        // As the tau-bench file tells it, so that the two can be compared.
        task_id: `airline/${run.task_id}`,
        trial: run.trial,
        policy: name,
        reward: run.reward,
        ending: run.info.reward_info === null ? 'limit' : 'terminated',
        messages: messagesOf(run.traj),
      }),
    );
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  };
}

const called = (m: Json): { name: string; arguments: Json } => {
  const { name, arguments: given } = m.tool_calls[0].function;
  return { name, arguments: JSON.parse(given) };
};

/** Every call of this log stands alone in its message. */
const calls = (m: Json): boolean => (m.tool_calls?.length ?? 0) > 0;

const anthropic = (m: Json): Json => {
  if (calls(m)) {
    const { name, arguments: input } = called(m);
    const text = m.content === null ? [] : [{ type: 'text', text: m.content }];
    return {
      role: 'assistant',
      content: [...text, { type: 'tool_use', id: m.tool_calls[0].id, name, input }],
    };
  }
  if (m.role !== 'tool') return m;
  return {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: m.tool_call_id, content: m.content }],
  };
};

const hermes = (m: Json): Json => {
  if (calls(m))
    return {
      role: 'assistant',
      content: `${m.content ?? ''}<tool_call>\n${JSON.stringify(called(m))}\n</tool_call>`,
    };
  if (m.role !== 'tool') return m;
  return { role: 'user', content: `<tool_response>\n${m.content}\n</tool_response>` };
};

/** As tau-bench's own text agents write; what they say to the user is the action `respond`. */
const textAgent = (m: Json): Json => {
  if (m.role === 'tool') return { role: 'user', content: `API output: ${m.content}` };
  if (m.role !== 'assistant') return m;
  const action = calls(m) ? called(m) : { name: 'respond', arguments: { content: m.content } };
  return {
    role: 'assistant',
    content: `Thought:\n${m.content ?? 'A tool.'}\nAction:\n${JSON.stringify(action)}`,
  };
};

const actionAsIs = (turn: RawTurn): string | null => turn.action;

const actionWritten =
  (rewrite: (m: Json) => Json) =>
  ({ action, calls }: RawTurn): string =>
    rewrite({
      role: 'assistant',
      content: action,
      tool_calls: calls.map((c) => ({ function: { name: c.tool, arguments: c.arguments } })),
    }).content;

export const rewritings: readonly Rewriting[] = [
  {
    name: "chat in OpenAI's shape",
    format: 'chat',
    marksSuccess: false,
    callsInText: false,
    actionOf: actionAsIs,
    write: chatLines('openai', (traj) => traj),
  },
  {
    name: "chat in Anthropic's shape",
    format: 'chat',
    marksSuccess: true,
    callsInText: false,
    actionOf: actionAsIs,
    write: chatLines('anthropic', (traj) => traj.map(anthropic)),
  },
  {
    name: 'chat with calls marked in the text',
    format: 'chat',
    marksSuccess: false,
    callsInText: true,
    actionOf: actionWritten(hermes),
    write: chatLines('hermes', (traj) => traj.map(hermes)),
  },
  {
    name: "runs of tau-bench's text agents",
    format: 'tau-bench',
    marksSuccess: true,
    callsInText: true,
    actionOf: actionWritten(textAgent),
    write(airline, folder) {
      const path = join(folder, 'text-agent.json');
      const runs = runsOf(airline).map((run) => ({ ...run, traj: run.traj.map(textAgent) }));
      writeFileSync(path, JSON.stringify(runs));
      return path;
    },
  },
];
