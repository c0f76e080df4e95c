import { basename, posix } from 'node:path';
import { type RecordContext, RecordError } from '../log-format.ts';
import { asFields, asListOrEmpty, asNameOrNull, type Fields, field, isFields } from './fields.ts';

/** One file of a trajectory, with the prefix of its paths in messages: '' for the file itself. */
export interface AtifDocument {
  readonly fields: Fields;
  readonly prefix: string;
}

/**
 * The documents of one trajectory in order: `first` and what continued_trajectory_ref leads to.
 * Refuses a cycle, and a file that is missing or is no trajectory, by name.
 */
export async function continuations(first: Fields, context: RecordContext): Promise<AtifDocument[]> {
  const documents: AtifDocument[] = [];
  for await (const document of walk(first, basename(context.path), context)) documents.push(document);
  return documents;
}

/**
 * Whether the steps of this file are read with another file's: it is named `X.part.json`, and the
 * trajectory `X.json` beside it, or a continuation of that one, refers to it by name as its
 * continuation or as a sub-agent's trajectory. A file that says it continues another one, and whose
 * first file is not found that way, throws RecordError: on its own it would be half a rollout.
 */
export async function belongsToAnother(document: Fields, context: RecordContext): Promise<boolean> {
  const name = basename(context.path);
  const pieces = name.split('.');
  for (let n = pieces.length - 2; n >= 1; n--) {
    const parent = [...pieces.slice(0, n), pieces.at(-1)].join('.');
    if (await refersTo(parent, name, context)) return true;
  }
  const agent = field(document, 'agent');
  const extra = isFields(agent) ? field(agent, 'extra') : undefined;
  const index = isFields(extra) ? field(extra, 'continuation_index') : undefined;
  if ((typeof index === 'number' && index > 0) || /\.cont-\d+\.json$/.test(name))
    throw new RecordError(
      `'${name}' continues another trajectory, and no file beside it refers to it by that name; ` +
        'it is read with the file whose continued_trajectory_ref names it',
      'agent.extra.continuation_index',
    );
  return false;
}

async function refersTo(parent: string, name: string, context: RecordContext): Promise<boolean> {
  let first: unknown;
  try {
    first = await context.readSibling(parent);
  } catch {
    return false; // no such file: nothing refers to this one
  }
  if (!isFields(first)) return false;
  try {
    for await (const document of walk(first, parent, context))
      if (references(document.fields).some((ref) => basename(ref) === name)) return true;
  } catch {
    // The chain is broken further on; reading `parent` says so.
  }
  return false;
}

async function* walk(first: Fields, name: string, context: RecordContext): AsyncGenerator<AtifDocument> {
  const seen = new Set([name]);
  let document: AtifDocument = { fields: first, prefix: '' };
  let folder = '.';
  for (;;) {
    yield document;
    const column = `${document.prefix}continued_trajectory_ref`;
    const ref = asNameOrNull(field(document.fields, 'continued_trajectory_ref'), column);
    if (ref === null) return;
    const path = posix.join(folder, ref);
    if (seen.has(path))
      throw new RecordError(
        `${column} leads back to '${path}': the chain of continuations is a cycle`,
        column,
      );
    seen.add(path);
    folder = posix.dirname(path);
    const fields = asFields(await sibling(path, column, context), `'${path}'`);
    document = { fields, prefix: `'${path}' ` };
  }
}

async function sibling(path: string, column: string, context: RecordContext): Promise<unknown> {
  try {
    return await context.readSibling(path);
  } catch (error) {
    if (error instanceof RecordError) throw new RecordError(`${column} ${error.message}`, column);
    const why = error instanceof Error ? error.message : String(error);
    throw new RecordError(`${column}: '${path}' cannot be read (${why})`, column);
  }
}

/** Files a document names: its continuation and its sub-agents' trajectories. */
function references(document: Fields): string[] {
  const found: unknown[] = [field(document, 'continued_trajectory_ref')];
  for (const step of asListOrEmpty(field(document, 'steps'), 'steps')) {
    const observation = isFields(step) ? field(step, 'observation') : undefined;
    const results = isFields(observation) ? field(observation, 'results') : undefined;
    for (const result of Array.isArray(results) ? results : []) {
      const refs = isFields(result) ? field(result, 'subagent_trajectory_ref') : undefined;
      for (const ref of Array.isArray(refs) ? refs : [])
        if (isFields(ref)) found.push(field(ref, 'trajectory_path'));
    }
  }
  return found.filter((ref): ref is string => typeof ref === 'string' && ref !== '');
}
