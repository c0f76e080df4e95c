import { RecordError } from '../log-format.ts';
import type { AtifDocument } from './atif-chain.ts';
import { textOfContent } from './chat-openai.ts';
import {
  asCount,
  asCountOrNull,
  asFields,
  asFieldsOrNull,
  asList,
  asListOrEmpty,
  asNumber,
  asNumberOrNull,
  asText,
  asTextOrNull,
  type Fields,
  field,
} from './fields.ts';
import type { Call, Message, ToolResult } from './messages.ts';
import type { CallTokens } from './token-segments.ts';

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
 */
export function readSteps(documents: readonly AtifDocument[]): AtifSteps {
  const messages: Message[] = [];
  const calls: CallTokens[] = [];
  const seen = new Set<string>();
  let cost: number | null = null;
  let model: string | null = null;
  let started: string | null = null;
  let ended: string | null = null;
  let contextSteps = 0;
  let turn = 0;

  for (const { fields, prefix } of documents) {
    for (const [i, value] of asList(field(fields, 'steps'), `${prefix}steps`).entries()) {
      const path = `${prefix}steps[${i}]`;
      const step = asFields(value, path);
      const source = sourceOf(step, path);
      const copied = field(step, 'is_copied_context') === true;
      const callCount = asCountOrNull(field(step, 'llm_call_count'), `${path}.llm_call_count`);
      const text = textOfContent(field(step, 'message'), `${path}.message`);
      const time = asTextOrNull(field(step, 'timestamp'), `${path}.timestamp`);
      if (!copied && time !== null) {
        started ??= time;
        ended = time;
      }
      const again = copied && seen.has(`${source} ${text}`);
      seen.add(`${source} ${text}`);
      const stepCalls = callsOf(step, path);
      const answers = observationOf(step, stepCalls, path);
      if (source === 'agent' && !copied && callCount !== 0) {
        const metrics = asFieldsOrNull(field(step, 'metrics'), `${path}.metrics`) ?? {};
        const spent = asNumberOrNull(field(metrics, 'cost_usd'), `${path}.metrics.cost_usd`);
        if (spent !== null) cost = (cost ?? 0) + spent;
        model ??= asTextOrNull(field(step, 'model_name'), `${path}.model_name`);
        const sampled = tokensOf(metrics, turn, `${path}.metrics`);
        if (sampled.call !== null) calls.push(sampled.call);
        const reasoning = Boolean(field(step, 'reasoning_content'));
        messages.push({
          ...context(text),
          role: 'assistant',
          calls: stepCalls,
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

function callsOf(step: Fields, path: string): Call[] {
  return asListOrEmpty(field(step, 'tool_calls'), `${path}.tool_calls`).map((value, i) => {
    const at = `${path}.tool_calls[${i}]`;
    const call = asFields(value, at);
    return {
      id: asTextOrNull(field(call, 'tool_call_id'), `${at}.tool_call_id`),
      name: asText(field(call, 'function_name'), `${at}.function_name`),
      arguments: field(call, 'arguments') ?? null,
    };
  });
}

/**
 * Results that name their call, or stand beside a single call, are its results. Others (one screen
 * after several commands) answer no call in particular: they are observed only.
 */
function observationOf(step: Fields, calls: readonly Call[], path: string) {
  const observation = asFieldsOrNull(field(step, 'observation'), `${path}.observation`) ?? {};
  const results: ToolResult[] = [];
  const loose: string[] = [];
  const list = asListOrEmpty(field(observation, 'results'), `${path}.observation.results`);
  for (const [i, value] of list.entries()) {
    const at = `${path}.observation.results[${i}]`;
    const result = asFields(value, at);
    const text = textOfContent(field(result, 'content'), `${at}.content`);
    const named = asTextOrNull(field(result, 'source_call_id'), `${at}.source_call_id`);
    const id = named ?? (calls.length === 1 ? calls[0]!.id : null);
    if (text === null) continue; // only a reference to a sub-agent's trajectory
    if (id === null) loose.push(text);
    else results.push({ id, name: null, text, error: null });
  }
  return { results, loose: loose.length === 0 ? null : loose.join('\n\n') };
}

function tokensOf(metrics: Fields, turn: number, path: string) {
  const prompt = tokenIds(field(metrics, 'prompt_token_ids'), `${path}.prompt_token_ids`);
  const completion = tokenIds(field(metrics, 'completion_token_ids'), `${path}.completion_token_ids`);
  const list = field(metrics, 'logprobs') ?? null;
  const logprobs =
    list === null
      ? null
      : asList(list, `${path}.logprobs`).map((v, i) => asNumber(v, `${path}.logprobs[${i}]`));
  if (completion !== null && logprobs !== null && completion.length !== logprobs.length)
    throw new RecordError(
      `${path}.logprobs has ${logprobs.length} entries, expected one for each of the ` +
        `${completion.length} completion_token_ids`,
      `${path}.logprobs`,
    );
  const counted = asCountOrNull(field(metrics, 'completion_tokens'), `${path}.completion_tokens`);
  const call = prompt === null || completion === null ? null : { turn, prompt, completion, logprobs };
  return { call, counts: { tokens: completion?.length ?? counted, logprobs } };
}

function tokenIds(value: unknown, path: string): number[] | null {
  if (value === undefined || value === null) return null;
  return asList(value, path).map((id, i) => asCount(id, `${path}[${i}]`));
}
