import type { EpisodeInput } from '../../schema/episode.ts';
import { instantOf } from '../../schema/instant.ts';
import type { FormatEpisode, LogFormat, RecordContext } from '../log-format.ts';
import type { FormatNote } from '../notes.ts';
import { type AtifDocument, belongsToAnother, continuations } from './atif-chain.ts';
import { readSteps } from './atif-steps.ts';
import {
  asFields,
  asFieldsOrNull,
  asNameOrNull,
  asNumberOrNull,
  asTextOrNull,
  type Fields,
  field,
  isFields,
  stem,
} from './fields.ts';
import { turnsOfMessages } from './messages.ts';
import { segmentsOfCalls } from './token-segments.ts';
import { tolerant } from './tolerant.ts';
import { aboutTurns, turnNotes } from './turn-notes.ts';

/**
 * ATIF, the Agent Trajectory Interchange Format (Harbor), versions 1.x: one document a file,
 * {schema_version, session_id, agent, steps, final_metrics, continued_trajectory_ref?}.
 *
 * - A decision of a model = one turn; its observation is every system and user message and every
 *   observation result since the previous one. Copied steps and steps without a model call are
 *   context (atif-steps.ts). Continuation files are read into their first file's episode, and give
 *   none of their own; nor do sub-agents' files (atif-chain.ts).
 * - The reward is outside (a trial's result.json): null here, joined on session_id or on the trial's
 *   folder, which is in meta as trial_name where the file lies in `trial/agent/`.
 * - Σ log b where logprobs cover the completion; tokens in one segment as long as each prompt begins
 *   with all that was before it (token-segments.ts). Nothing says raw or processed.
 * - The episode is named by session_id, else trajectory_id, else the trial, else the file.
 * - Policy: agent.model_name, else the model that the first decision names, else agent.name. A task is
 *   not named inside.
 * - Cost: Σ cost_usd of the turns, else total_cost_usd of the last file; final_metrics, which may count
 *   sub-agents too, is in meta.
 */
export const atif: LogFormat = {
  name: 'atif',
  units: ['document'],
  recognise(first) {
    if (!isFields(first)) return 0;
    const version = field(first, 'schema_version');
    if (typeof version === 'string' && version.startsWith('ATIF-')) return 1;
    return Array.isArray(field(first, 'steps')) && isFields(field(first, 'agent')) ? 0.8 : 0;
  },
  async read(record, context) {
    const document = asFields(record, 'record');
    if (await belongsToAnother(document, context)) return [];
    return [episodeOf(await continuations(document, context), context)];
  },
};

function episodeOf(documents: readonly AtifDocument[], context: RecordContext): FormatEpisode {
  const first = documents[0]!.fields;
  const notes: FormatNote[] = [];
  const agent = tolerant(notes, 'agent', (at) => asFields(field(first, 'agent'), at)) ?? {};
  const named = (name: string) => tolerant(notes, name, (at) => asNameOrNull(field(first, name), at));
  const session = named('session_id');
  const trial = /([^/\\]+)[/\\]agent[/\\][^/\\]+$/.exec(context.path)?.[1];
  // Without any name of its own it has that of its trial, else of its file.
  const id = session ?? named('trajectory_id') ?? trial ?? stem(context.path);
  const steps = readSteps(documents, notes);
  const found = turnsOfMessages(steps.messages);
  const { segments, segmentOf } = segmentsOfCalls(steps.calls);
  const sampling = samplingOf(agent, notes);
  const turns = found.turns.map((turn) => ({ ...turn, sampling }));
  steps.calls.forEach((call, i) => {
    turns[call.turn]!.segment = segmentOf[i]!;
  });

  const last = documents.at(-1)!;
  const metrics = tolerant(notes, 'final_metrics', (at) =>
    asFieldsOrNull(field(last.fields, 'final_metrics'), at),
  );
  const total = metrics === null ? undefined : field(metrics, 'total_cost_usd');
  const name = tolerant(notes, 'agent.name', (at) => asTextOrNull(field(agent, 'name'), at));
  const model = tolerant(notes, 'agent.model_name', (at) => asTextOrNull(field(agent, 'model_name'), at));
  const meta: Record<string, unknown> = {
    schema_version: field(first, 'schema_version') ?? null,
    session_id: session,
    agent: { name, version: field(agent, 'version') ?? null },
  };
  if (trial !== undefined) meta.trial_name = trial;
  if (metrics !== null) meta.final_metrics = metrics;
  if (documents.length > 1) meta.files = documents.length;
  if (steps.contextSteps > 0) meta.context_agent_steps = steps.contextSteps;
  for (const [key, value] of aboutTurns(found)) meta[key] = value;
  const [startedAt, endedAt] = [instant(steps.started), instant(steps.ended)];
  if ((startedAt === null) !== (steps.started === null) || (endedAt === null) !== (steps.ended === null))
    meta.times_as_written = { started_at: steps.started, ended_at: steps.ended };

  const episode: EpisodeInput = {
    episode_id: id,
    policy: model ?? steps.model ?? name,
    reward: null,
    started_at: startedAt,
    ended_at: endedAt,
    cost: steps.cost ?? tolerant(notes, 'final_metrics.total_cost_usd', (at) => asNumberOrNull(total, at)),
    meta,
    turns,
    segments,
  };
  return { episode, notes: [...notes, ...turnNotes(found)] };
}

/** agent.extra is free-form: what is a valid setting is taken, anything else is not one. */
function samplingOf(agent: Fields, notes: FormatNote[]) {
  const extra = tolerant(notes, 'agent.extra', (at) => asFieldsOrNull(field(agent, 'extra'), at));
  if (extra === null) return null;
  const setting = (name: string, valid: (n: number) => boolean): number | null => {
    const value = field(extra, name);
    return typeof value === 'number' && valid(value) ? value : null;
  };
  const sampling = {
    temperature: setting('temperature', (n) => n >= 0 && n < Infinity),
    top_p: setting('top_p', (n) => n >= 0 && n <= 1),
    top_k: setting('top_k', (n) => Number.isInteger(n) && Math.abs(n) < 2 ** 31),
  };
  return Object.values(sampling).every((value) => value === null) ? null : sampling;
}

/** One that is no time stays in meta as it was written. */
function instant(text: string | null): string | null {
  return text === null ? null : instantOf(text);
}
