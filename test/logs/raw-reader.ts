/*
 * A second reader of the logs: it walks the raw JSON of each format, from what the documentation says in
 * words, and shares no code with the program. Two readers that agree on every figure of a real log can only
 * be wrong in the same way.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Outcome, outcomeOfText } from './raw-outcome.ts';

export type Ending = 'terminated' | 'limit' | 'truncated' | 'aborted' | 'unfinished';

export interface RawCall {
  readonly tool: string;
  readonly arguments: unknown;
  answer: string | null;
  outcome: Outcome;
}

export interface RawTurn {
  /** null: not told by this reader. */
  readonly observation: string | null;
  readonly action: string | null;
  readonly calls: readonly RawCall[];
  readonly tokens: number | null;
  readonly logprob: number | null;
}

export interface RawEpisode {
  readonly id: string;
  readonly task: string | null;
  readonly trial: number | null;
  readonly policy: string | null;
  readonly ending: Ending;
  /** What is paid at the end; turns of these formats pay nothing. */
  readonly reward: number | null;
  readonly cost: number | null;
  readonly turns: readonly RawTurn[];
  /** Prompt and completion token ids of the model calls, where the log has them. */
  readonly modelCalls: readonly {
    readonly prompt: readonly number[];
    readonly completion: readonly number[];
  }[];
  /** Everything that only the grader knows. */
  readonly hidden: readonly unknown[];
}

// biome-ignore lint/suspicious/noExplicitAny: the raw JSON of a stranger, walked as it is.
type Json = any;

const readJson = (path: string): Json => JSON.parse(readFileSync(path, 'utf8'));
const readLines = (path: string): Json[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
const nameOf = (path: string): string => basename(path).replace(/\.[^.]*$/, '');

/** A file of tau-bench results: every answer that is not a failure is a success. */
export function readTauBench(path: string): RawEpisode[] {
  const name = nameOf(path);
  return readJson(path).map((run: Json): RawEpisode => {
    const { turns, lastWords } = walkMessages(run.traj, 'worked');
    const crashed = run.info?.error != null;
    const [, domain] = /^# (\w+) Agent Policy/.exec(run.traj[0].content)!;
    return {
      id: `${name}/${run.task_id}/${run.trial}`,
      task: `${domain!.toLowerCase()}/${run.task_id}`,
      trial: run.trial,
      policy: name,
      ending: crashed ? 'aborted' : tauBenchEnding(run, turns, lastWords),
      reward: crashed ? null : run.reward,
      cost: null,
      turns,
      modelCalls: [],
      hidden: [run.info.task.instruction, run.info.task.actions, run.info.task.outputs, run.info.reward_info],
    };
  });
}

function tauBenchEnding(run: Json, turns: readonly RawTurn[], lastWords: string): Ending {
  const handedOver = turns.at(-1)?.calls.some((call) => call.tool === 'transfer_to_human_agents') ?? false;
  if (run.info.reward_info || lastWords.includes('###STOP###') || handedOver) return 'terminated';
  if (turns.length >= 30) return 'limit';
  return run.info.reward_info === null ? 'truncated' : 'terminated';
}

/**
 * Conversations a line, or one that is the whole file as a bare list of messages, in OpenAI's shape: nothing
 * marks a success there, so silence is unknown.
 */
export function readChat(path: string): RawEpisode[] {
  const records = path.endsWith('.jsonl') ? readLines(path) : [{ messages: readJson(path) }];
  return records.map((record, i): RawEpisode => {
    const reward = record.reward ?? null;
    return {
      id: record.episode_id ?? record.id ?? `${nameOf(path)}#${i + 1}`,
      task: record.task_id ?? null,
      trial: record.trial ?? null,
      policy: record.policy ?? record.model ?? null,
      ending: record.ending ?? (reward === null ? 'unfinished' : 'terminated'),
      reward,
      cost: record.cost ?? null,
      turns: walkMessages(record.messages, 'unknown').turns,
      modelCalls: [],
      hidden: [],
    };
  });
}

function walkMessages(messages: readonly Json[], otherwise: Outcome) {
  const walk = startWalk(otherwise);
  // mini-swe-agent: the one fenced block of a message is a command, and what the user says next its answer.
  const commands = messages.some((m) => m.role === 'user' && m.content.startsWith('<returncode>'));
  let running = false;
  for (const m of messages) {
    if (commands && m.role === 'assistant') {
      const blocks = [...m.content.matchAll(/^```(mswea_bash_command|bash)\n([\s\S]*?)\n```$/gm)];
      walk.act(
        m.content,
        blocks.map(([, word, command]) => [null, word!, { command }]),
      );
      running = blocks.length === 1;
      continue;
    }
    if (running && m.role === 'user') {
      walk.answer(null, m.content);
      running = false;
      continue;
    }
    if (m.role === 'tool') walk.answer(m.tool_call_id, m.content);
    else if (m.role !== 'assistant') walk.hear(m.content);
    else
      walk.act(
        m.content,
        (m.tool_calls ?? []).map((c: Json) => [c.id, c.function.name, c.function.arguments]),
      );
  }
  return { turns: walk.turns, lastWords: messages.at(-1).content ?? '' };
}

/** Turns as they grow: what came in since the last action, and which call an answer belongs to. */
function startWalk(otherwise: Outcome) {
  const turns: RawTurn[] = [];
  let open: { id: string | null; call: RawCall }[] = [];
  let heard: string[] = [];
  const hear = (text: string | null): void => {
    if (text !== null && text !== '') heard.push(text);
  };
  return {
    turns,
    hear,
    act(
      action: string | null,
      made: readonly (readonly [id: string | null, tool: string, given: unknown])[],
      tokens: number | null = null,
      logprob: number | null = null,
    ): void {
      open = made.map(([id, tool, given]) => ({
        id,
        call: { tool, arguments: given, answer: null, outcome: 'unknown' },
      }));
      turns.push({
        observation: heard.join('\n\n'),
        action,
        calls: open.map((o) => o.call),
        tokens,
        logprob,
      });
      heard = [];
    },
    /** In these logs an answer belongs to the turn before it; a reader that finds none has lost it. */
    answer(id: string | null, text: string): void {
      const at = open.findIndex((o) => o.id === id);
      if (at < 0) throw new Error(`no call waits for the answer to ${id}: ${text.slice(0, 80)}`);
      const { call } = open.splice(at, 1)[0]!;
      const said = outcomeOfText(text);
      call.answer = text;
      call.outcome = said === 'unknown' ? otherwise : said;
      hear(text);
    },
  };
}

/** A Harbor trajectory and its continuations. */
export function readAtif(path: string): RawEpisode {
  const documents: Json[] = [readJson(path)];
  for (let ref: string | undefined; (ref = documents.at(-1).continued_trajectory_ref); )
    documents.push(readJson(join(dirname(path), ref)));
  const [first] = documents;
  const walk = startWalk('unknown');
  const seen = new Set<string>();
  const modelCalls: { prompt: number[]; completion: number[] }[] = [];
  const costs: number[] = [];
  for (const step of documents.flatMap((d) => d.steps)) {
    const copied = step.is_copied_context === true;
    // A copy of a step that the trajectory already holds is not observed a second time.
    const key = JSON.stringify([step.source, step.message]);
    if (copied && seen.has(key)) continue;
    seen.add(key);
    const calls: Json[] = step.tool_calls ?? [];
    if (step.source !== 'agent' || copied || step.llm_call_count === 0) walk.hear(step.message);
    else {
      const m = step.metrics ?? {};
      if (m.cost_usd != null) costs.push(m.cost_usd);
      if (m.prompt_token_ids && m.completion_token_ids)
        modelCalls.push({ prompt: m.prompt_token_ids, completion: m.completion_token_ids });
      walk.act(
        step.message,
        calls.map((c) => [c.tool_call_id, c.function_name, c.arguments]),
        m.completion_token_ids?.length ?? m.completion_tokens ?? null,
        m.logprobs ? m.logprobs.reduce((a: number, b: number) => a + b, 0) : null,
      );
    }
    for (const result of step.observation?.results ?? []) {
      const id = result.source_call_id ?? (calls.length === 1 ? calls[0].tool_call_id : null);
      if (result.content == null) continue;
      if (id === null) walk.hear(result.content);
      else walk.answer(id, result.content);
    }
  }
  return {
    id: first.session_id,
    task: null,
    trial: null,
    policy: first.agent.model_name ?? first.agent.name,
    ending: 'unfinished',
    reward: null,
    cost: costs.length === 0 ? null : costs.reduce((a, b) => a + b, 0),
    turns: walk.turns,
    modelCalls,
    hidden: [],
  };
}
