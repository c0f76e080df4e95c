import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { placeOf } from '../../store/place.ts';
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
 * Whether the steps of this file are read with another file's: a trajectory refers to it by name as its continuation or
 * as a sub-agent's trajectory. Looked for are `X.json` beside a file named `X.part.json`, with all that continues it; the
 * files of the call; and, for a file that says it continues another one, all files of its folder. Such a file that
 * nobody refers to throws RecordError: on its own it would be half a rollout.
 * What has been read of a file for this is kept as names, so that a chain of n files takes O(n) in all.
 */
export async function belongsToAnother(document: Fields, context: RecordContext): Promise<boolean> {
  const name = basename(context.path);
  const pieces = name.split('.');
  for (let n = pieces.length - 2; n >= 1; n--) {
    const parent = [...pieces.slice(0, n), pieces.at(-1)].join('.');
    if ((await namesInChain(parent, context)).has(name)) return true;
  }
  const path = resolve(placeOf(context.path));
  if (leadsBack(path, await referrers(context, 'given', () => context.given))) return true;
  const agent = field(document, 'agent');
  const extra = isFields(agent) ? field(agent, 'extra') : undefined;
  const index = isFields(extra) ? field(extra, 'continuation_index') : undefined;
  if (!(typeof index === 'number' && index > 0) && !/\.cont-\d+\.json$/.test(name)) return false;
  const folder = dirname(path);
  if (leadsBack(path, await referrers(context, folder, () => filesOf(folder)))) return true;
  throw new RecordError(
    `'${name}' continues another trajectory, and no file beside it refers to it by that name; ` +
      'it is read with the file whose continued_trajectory_ref names it',
    'agent.extra.continuation_index',
  );
}

/** Names that a file beside this one and all its continuations refer to; none where it is no trajectory. */
async function namesInChain(parent: string, context: RecordContext): Promise<ReadonlySet<string>> {
  return kept(context, `names ${resolve(placeOf(dirname(context.path)), parent)}`, async () => {
    const names = new Set<string>();
    try {
      const first = await context.readSibling(parent);
      if (isFields(first))
        for await (const document of walk(first, parent, context))
          for (const ref of references(document.fields)) names.add(basename(ref));
    } catch {
      // There is no such file, or its chain is broken further on; reading it says so.
    }
    return names;
  });
}

/** Whether a file is referred to, by one that is not itself part of a cycle: reading that says so. */
function leadsBack(path: string, referrers: ReadonlyMap<string, string>): boolean {
  const seen = new Set([path]);
  for (let at = referrers.get(path); at !== undefined; at = referrers.get(at)) {
    if (seen.has(at)) return false;
    seen.add(at);
  }
  return seen.size > 1;
}

/** Larger files are no single trajectory. */
const MOST_BYTES = 64 << 20;

/** Of the files that these JSON files refer to, who does; absolute paths. Memory: the names. */
function referrers(
  context: RecordContext,
  where: string,
  files: () => readonly string[] | Promise<readonly string[]>,
): Promise<ReadonlyMap<string, string>> {
  return kept(context, `referrers ${where}`, async () => {
    const found = new Map<string, string>();
    for (const file of await files()) {
      if (!file.endsWith('.json')) continue;
      const path = resolve(placeOf(file));
      for (const ref of await kept(context, `references ${path}`, () => referencesOf(path)))
        if (!found.has(ref) && ref !== path) found.set(ref, path);
    }
    return found;
  });
}

async function referencesOf(path: string): Promise<readonly string[]> {
  try {
    const info = await stat(path);
    if (!info.isFile() || info.size > MOST_BYTES) return [];
    const text = await readFile(path, 'utf8');
    // Most files refer to none, and need not be parsed for that.
    if (!text.includes('trajectory_ref')) return [];
    const document: unknown = JSON.parse(text);
    return isFields(document) ? references(document).map((ref) => resolve(dirname(path), ref)) : [];
  } catch {
    return []; // Not a trajectory that can be read: it refers to nothing.
  }
}

async function filesOf(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name));
}

function kept<T>({ memo }: RecordContext, key: string, make: () => Promise<T>): Promise<T> {
  const name = `atif ${key}`;
  let value = memo.get(name) as Promise<T> | undefined;
  if (value === undefined) memo.set(name, (value = make()));
  return value;
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
