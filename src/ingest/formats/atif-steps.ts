import { stringifyExact } from '../../json/exact-json.ts';
import { ExactNumber } from '../../json/exact-number.ts';
import { RecordError } from '../log-format.ts';
import type { FormatNote } from '../notes.ts';
import { MAX_FLOAT } from '../segment-scan.ts';
import type { AtifDocument } from './atif-chain.ts';
import { textOfContent } from './chat-openai.ts';
import {
  asCount,
  asCountOrNull,
  asFields,
  asFieldsOrNull,
  asList,
  asListOrEmpty,
  asNumberOrNull,
  asText,
  asTextOrNull,
  type Fields,
  field,
  isFields,
} from './fields.ts';
import type { Call, Message, ToolResult } from './messages.ts';
import type { CallTokens } from './token-segments.ts';
import { tolerant } from './tolerant.ts';
import { failureFlag } from './tool-outcome.ts';

/** The steps of a trajectory, as messages and what was measured beside them. */
export interface AtifSteps {
  readonly messages: Message[];
  /** One per decision that carries its prompt's and its completion's token ids. */
  readonly calls: CallTokens[];
  /** Σ cost_usd; null where no step has one. */
  readonly cost: number | null;
  /** First model named by a step that decided. */
  readonly model: string | null;
  /** Of the first and the last step that have one, as written. */
  readonly started: string | null;
  readonly ended: string | null;
  /** Copied or model-free agent steps: context, not decisions. */
  readonly contextSteps: number;
}

/**
 * A decision is an agent step that a model made here: not one copied from an earlier trajectory
 * (is_copied_context), not one without a model call (llm_call_count 0). Those are context, as system
 * and user steps are. A copied step whose text the trajectory already holds is not observed again.
 * What can be done without and cannot be read (a time, a count, a cost, token ids) is left out, and noted.
 */
export function readSteps(documents: readonly AtifDocument[], notes: FormatNote[]): AtifSteps {
  const messages: Message[] = [];
  const calls: CallTokens[] = [];
  const seen = new Set<string>();
  let cost: number | null = null;
  let model: string | null = null;
  let started: string | null = null;
  let ended: string | null = null;
  let contextSteps = 0;
  let turn = 0;
  /** Calls of the last decision that no result has answered. */
  let asked: readonly Call[] = [];

  for (const { fields, prefix } of documents) {
    for (const [i, value] of asList(field(fields, 'steps'), `${prefix}steps`).entries()) {
      const path = `${prefix}steps[${i}]`;
      const step = asFields(value, path);
      const source = sourceOf(step, path);
      const copied = field(step, 'is_copied_context') === true;
      const callCount = tolerant(notes, `${path}.llm_call_count`, (at) =>
        asCountOrNull(field(step, 'llm_call_count'), at),
      );
      const text = textOfContent(field(step, 'message'), `${path}.message`);
      const time = tolerant(notes, `${path}.timestamp`, (at) => asTextOrNull(field(step, 'timestamp'), at));
      if (!copied && time !== null) {
        started ??= time;
        ended = time;
      }
      const again = copied && seen.has(`${source} ${text}`);
      seen.add(`${source} ${text}`);
      const { calls: stepCalls, unread } = callsOf(step, path, notes);
      const decides = source === 'agent' && !copied && callCount !== 0;
      // What stands in a step of its own answers the decision before it.
      if (decides) asked = stepCalls;
      const answers = observationOf(step, source === 'agent' ? stepCalls : asked, path);
      if (answers.results.length > 0) asked = [];
      if (decides) {
        const metrics =
          tolerant(notes, `${path}.metrics`, (at) => asFieldsOrNull(field(step, 'metrics'), at)) ?? {};
        const spent = tolerant(notes, `${path}.metrics.cost_usd`, (at) =>
          asNumberOrNull(field(metrics, 'cost_usd'), at),
        );
        if (spent !== null) cost = (cost ?? 0) + spent;
        model ??= tolerant(notes, `${path}.model_name`, (at) => asTextOrNull(field(step, 'model_name'), at));
        const sampled = tokensOf(metrics, turn, `${path}.metrics`, notes);
        if (sampled.call !== null) calls.push(sampled.call);
        const reasoning = Boolean(field(step, 'reasoning_content'));
        messages.push({
          ...context(text),
          role: 'assistant',
          calls: stepCalls,
          ...(unread === undefined ? {} : { unread }),
          reasoning,
          ...sampled.counts,
        });
        turn++;
      } else {
        if (source === 'agent') contextSteps++;
        if (!again) messages.push(context(text));
      }
      if (!again) messages.push({ ...context(answers.loose), role: 'tool', results: answers.results });
    }
  }
  return { messages, calls, cost, model, started, ended, contextSteps };
}

function sourceOf(step: Fields, path: string): 'system' | 'user' | 'agent' {
  const source = asText(field(step, 'source'), `${path}.source`);
  if (source === 'system' || source === 'user' || source === 'agent') return source;
  throw new RecordError(`${path}.source is '${source}', expected system, user or agent`, `${path}.source`);
}

function context(text: string | null): Message {
  return { role: 'system', text, calls: [], results: [], reasoning: false, tokens: null, logprobs: null };
}

/** The calls; where one cannot be read, none, since the others are not all. One without a name is a call all the same. */
function callsOf(step: Fields, path: string, notes: FormatNote[]): Pick<Message, 'calls' | 'unread'> {
  const calls = tolerant(notes, `${path}.tool_calls`, (list) =>
    asListOrEmpty(field(step, 'tool_calls'), list).map((value, i): Call => {
      const at = `${list}[${i}]`;
      const call = asFields(value, at);
      return {
        id: idOf(call, 'tool_call_id'),
        name: tolerant(notes, `${at}.function_name`, (p) => asText(field(call, 'function_name'), p)) ?? '',
        arguments: field(call, 'arguments') ?? null,
      };
    }),
  );
  return calls === null ? { calls: [], unread: 'tool_calls' } : { calls };
}

/** A call's id, text or a number; anything else is none. */
function idOf(fields: Fields, name: string): string | null {
  const id = field(fields, name);
  if (typeof id === 'number' || id instanceof ExactNumber)
    return String(id instanceof ExactNumber ? id.text : id);
  return typeof id === 'string' && id !== '' ? id : null;
}

/**
 * Results that name their call, or stand beside a single call, are its results. Others (one screen
 * after several commands) answer no call in particular: they are observed only. An observation in another shape than
 * {results} (a text, a list, {content, …}) is one result, or several; what has no content is kept as its JSON.
 */
function observationOf(step: Fields, calls: readonly Call[], path: string) {
  const results: ToolResult[] = [];
  const loose: string[] = [];
  for (const [i, value] of observedIn(field(step, 'observation')).entries()) {
    const result = isFields(value) ? value : { content: value };
    const text = resultText(result, `${path}.observation.results[${i}]`);
    if (text === null) continue; // only a reference to a sub-agent's trajectory
    const named = idOf(result, 'source_call_id') ?? idOf(result, 'tool_call_id');
    const inner = field(result, 'result');
    const error = failureFlag(result) ?? (isFields(inner) ? failureFlag(inner) : null);
    const only = calls.length === 1 ? calls[0]! : null;
    if (named === null && only === null) loose.push(text);
    else if (named === null) results.push({ id: only!.id, name: only!.name, text, error });
    else results.push({ id: named, name: null, text, error });
  }
  return { results, loose: loose.length === 0 ? null : loose.join('\n\n') };
}

function observedIn(observation: unknown): readonly unknown[] {
  if (observation === undefined || observation === null) return [];
  if (Array.isArray(observation)) return observation;
  const results = isFields(observation) ? field(observation, 'results') : undefined;
  if (Array.isArray(results)) return results;
  return isFields(results) ? [results] : [observation];
}

/** Beside the content, what says where it came from. */
const ABOUT: ReadonlySet<string> = new Set([
  ...['source_call_id', 'tool_call_id', 'subagent_trajectory_ref', 'extra', 'content', 'results'],
]);

function resultText(result: Fields, path: string): string | null {
  const content = field(result, 'content') ?? null;
  if (content === null)
    return Object.keys(result).some((key) => !ABOUT.has(key)) ? stringifyExact(result) : null;
  try {
    return textOfContent(content, path);
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    return stringifyExact(content);
  }
}

function tokensOf(metrics: Fields, turn: number, path: string, notes: FormatNote[]) {
  const ids = (name: string) =>
    tolerant(notes, `${path}.${name}`, (at) => tokenIds(field(metrics, name), at));
  const prompt = ids('prompt_token_ids');
  const completion = ids('completion_token_ids');
  const given =
    tolerant(notes, `${path}.logprobs`, (at) => asListOrEmpty(field(metrics, 'logprobs'), at)) ?? [];
  const logprobs =
    (field(metrics, 'logprobs') ?? null) === null
      ? null
      : given.map((v, i) => tolerant(notes, `${path}.logprobs[${i}]`, (at) => asNumberOrNull(v, at)));
  const counted = tolerant(notes, `${path}.completion_tokens`, (at) =>
    asCountOrNull(field(metrics, 'completion_tokens'), at),
  );
  // Of another length, it is not known which token has which: none is kept, and the turn has no sum.
  const paired = logprobs !== null && logprobs.length === completion?.length ? logprobs.map(storable) : null;
  const call = prompt === null || completion === null ? null : { turn, prompt, completion, logprobs: paired };
  return { call, counts: { tokens: completion?.length ?? counted, logprobs } };
}

/** The least double stands in for a probability that is not known, and fits no 32-bit float: null. */
function storable(logprob: number | null): number | null {
  return logprob !== null && Math.abs(logprob) > MAX_FLOAT ? null : logprob;
}

function tokenIds(value: unknown, path: string): number[] | null {
  if (value === undefined || value === null) return null;
  return asList(value, path).map((id, i) => asCount(id, `${path}[${i}]`));
}
