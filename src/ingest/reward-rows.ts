import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseExact } from '../json/exact-json.ts';
import { repeatedKey } from '../json/repeated-key.ts';
import { failure } from '../schema/error.ts';
import { csvRows } from './csv-rows.ts';
import {
  asFieldsOrNull,
  asNameOrNull,
  asNumber,
  asNumberOrNull,
  type Fields,
  field,
  isFields,
} from './formats/fields.ts';
import { namedRewards, weightedSum } from './formats/named-rewards.ts';
import { tolerant } from './formats/tolerant.ts';
import { RecordError } from './log-format.ts';
import type { FormatNote } from './notes.ts';
import type { RewardEntry } from './rewards.ts';

/** A row by its episode; null where a trial of a folder has a result that cannot be read, which the notes tell. */
interface KeyedEntry {
  readonly keyed: { readonly key: string; readonly entry: RewardEntry } | null;
  /** What of the row is left out. */
  readonly notes: readonly FormatNote[];
}

/** Names a row may give its episode, first one first. */
const KEYS = ['episode_id', 'session_id', 'trial_name'] as const;

/** Rows of a reward file, or of every result.json below a folder, with the place of each. */
export async function* rewardRows(path: string): AsyncGenerator<KeyedEntry> {
  const info = await stat(path).catch((cause: unknown) => {
    throw failure({ subject: path, wrong: 'no such file', cause });
  });
  if (!info.isDirectory()) yield* fileRows(path, basename(path));
  else {
    const names = (await readdir(path, { recursive: true })).filter(
      (name) => basename(name) === 'result.json',
    );
    for (const name of names.sort()) yield* trialRows(join(path, name), name);
  }
}

/**
 * The row of a trial's result.json; none of any other document of that name (a job's summary). One that was cut, or
 * whose verdict cannot be read, leaves its own trial without a reward, and none of the others.
 */
async function* trialRows(path: string, name: string): AsyncGenerator<KeyedEntry> {
  let whole: unknown;
  try {
    whole = parseExact((await readFile(path, 'utf8')).replace(/^\ufeff/, ''));
  } catch (cause) {
    yield { keyed: null, notes: [unreadable(name, cause)] };
    return;
  }
  if (!isFields(whole) || !KEYS.some((key) => Object.hasOwn(whole as Fields, key))) return;
  try {
    yield keyed(whole, name, true);
  } catch (cause) {
    yield { keyed: null, notes: [unreadable(name, cause)] };
  }
}

function unreadable(place: string, cause: unknown): FormatNote {
  const why = cause instanceof Error ? cause.message : String(cause);
  return { code: 'verdict-unreadable', about: why.startsWith(place) ? why : `${place}: ${why}` };
}

async function* fileRows(path: string, name: string): AsyncGenerator<KeyedEntry> {
  const text = (await readFile(path, 'utf8')).replace(/^\ufeff/, '');
  if (!/^\s*[[{]/.test(text)) {
    for (const { line, row } of csvRows(text, name)) yield keyed(csvFields(row), `${name} line ${line}`);
    return;
  }
  let whole: unknown;
  try {
    whole = parseExact(text);
  } catch (cause) {
    yield* jsonLines(text, name, cause);
    return;
  }
  refuseRepeated(text, name);
  if (Array.isArray(whole)) {
    for (const [i, row] of whole.entries()) yield keyed(row, `${name} entry ${i + 1}`);
  } else if (isFields(whole) && KEYS.some((key) => Object.hasOwn(whole as Fields, key))) {
    yield keyed(whole, name);
  } else {
    for (const [key, value] of Object.entries(whole as Fields)) {
      const row = isFields(value) ? value : { reward: value };
      yield keyed({ ...row, episode_id: key }, `${name} key '${key}'`);
    }
  }
}

function* jsonLines(text: string, name: string, whole: unknown): Generator<KeyedEntry> {
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const place = `${name} line ${i + 1}`;
    let row: unknown;
    try {
      row = parseExact(line);
    } catch {
      const why = whole instanceof Error ? whole.message : '';
      throw failure({ subject: place, wrong: `neither a line of JSON nor part of a JSON document (${why})` });
    }
    refuseRepeated(line, place);
    yield keyed(row, place);
  }
}

/** Of two values under one key JSON.parse keeps the last, and of two rewards of an episode nothing says which. */
function refuseRepeated(text: string, place: string): void {
  const key = repeatedKey(text);
  if (key !== null)
    throw failure({
      subject: place,
      wrong: `has the key ${JSON.stringify(key)} twice in one object; only the last would count`,
    });
}

/** Not the hexadecimals that Number() takes. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Cells are text: the reward is a number, an empty cell is none. */
function csvFields(row: ReadonlyMap<string, string>): Fields {
  const fields: Record<string, unknown> = {};
  // What is an object elsewhere has no form as a cell; an empty cell is none.
  for (const [name, cell] of row)
    if (name !== 'rewards' && name !== 'verifier_result') fields[name] = cell === '' ? null : cell;
  const reward = row.get('reward')?.trim();
  if (reward === undefined) return fields;
  fields.reward = reward === '' ? null : NUMBER.test(reward) ? Number(reward) : reward;
  return fields;
}

/** `ofMany`: a verdict that cannot be read is noted, not refused. */
function keyed(row: unknown, place: string, ofMany = false): KeyedEntry {
  try {
    if (!isFields(row)) throw new RecordError('the row is no object');
    let key: string | null = null;
    for (const name of KEYS) key ??= asNameOrNull(field(row, name), name);
    if (key === null)
      throw new RecordError(
        `none of ${KEYS.join(', ')} is given, got columns ${Object.keys(row).join(', ') || 'none'}, expected one of them and reward`,
      );
    const notes: FormatNote[] = [];
    const verified = field(row, 'verifier_result');
    const task = tolerant(notes, 'task_id', () =>
      asNameOrNull(field(row, 'task_id') ?? field(row, 'task_name'), 'task_id'),
    );
    if (verified !== undefined)
      return {
        keyed: {
          key,
          entry: { ...harborReward(row, verified, notes, ofMany ? place : null), task_id: task, place },
        },
        notes,
      };
    const paid = field(row, 'reward');
    if (typeof paid === 'string')
      throw new RecordError(`reward is text, got ${JSON.stringify(paid.slice(0, 40))}, expected a number`);
    const given = asNumberOrNull(paid, 'reward');
    const named = () => namedRewards(field(row, 'rewards'));
    // What makes up the reward is needed only where nothing else says it.
    const rewards = given === null ? named() : tolerant(notes, 'rewards', named);
    if (paid === undefined && rewards === null)
      throw new RecordError(
        `reward is missing, got columns ${Object.keys(row).join(', ')}, expected a number or null in column reward`,
      );
    const reward = given ?? weightedSum(rewards);
    const entry = { reward, rewards, task_id: task, ending: null, exception: null, place };
    return { keyed: { key, entry }, notes };
  } catch (error) {
    if (error instanceof RecordError) throw failure({ subject: place, wrong: error.message });
    throw error;
  }
}

/** Harbor's exception of a trial whose agent used up its time. */
const TIMEOUT = 'AgentTimeoutError';

/**
 * Harbor's result of a trial: rewards.reward, or the only one there is; the others weigh nothing.
 * An exception is kept beside the verdict. Time was up (AgentTimeoutError): the task's own limit. With any other exception and
 * no verdict the trial was aborted.
 */
function harborReward(
  row: Fields,
  verified: unknown,
  notes: FormatNote[],
  ofMany: string | null,
): Pick<RewardEntry, 'reward' | 'rewards' | 'ending' | 'exception'> {
  const exception = field(row, 'exception_info') ?? null;
  const type = isFields(exception) ? field(exception, 'exception_type') : exception;
  const limit = type === TIMEOUT ? ('limit' as const) : null;
  try {
    const result = asFieldsOrNull(verified, 'verifier_result');
    const given =
      result === null ? null : asFieldsOrNull(field(result, 'rewards'), 'verifier_result.rewards');
    if (given === null || Object.keys(given).length === 0)
      return {
        reward: null,
        rewards: null,
        ending: limit ?? (exception === null ? null : 'aborted'),
        exception,
      };
    return { ...verdictOf(given, notes), ending: limit, exception };
  } catch (error) {
    if (ofMany === null || !(error instanceof RecordError)) throw error;
    notes.push(unreadable(ofMany, error));
    return { reward: null, rewards: null, ending: limit, exception };
  }
}

function verdictOf(given: Fields, notes: FormatNote[]): Pick<RewardEntry, 'reward' | 'rewards'> {
  const names = Object.keys(given);
  const main = names.length === 1 ? names[0]! : 'reward';
  if (!names.includes(main))
    throw new RecordError(`verifier_result.rewards has no 'reward' among ${names.join(', ')}`);
  const parts = names.flatMap((name) => {
    const at = `verifier_result.rewards.${name}`;
    const read = () => asNumber(given[name], at);
    const score = name === main ? read() : tolerant(notes, at, read);
    return score === null ? [] : [[name, { score, weight: name === main ? 1 : 0 }] as const];
  });
  const rewards = Object.fromEntries(parts);
  return { reward: rewards[main]!.score, rewards };
}
