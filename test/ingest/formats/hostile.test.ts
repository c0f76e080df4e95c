import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { atif } from '../../../src/ingest/formats/atif.ts';
import { chat } from '../../../src/ingest/formats/chat.ts';
import { tauBench } from '../../../src/ingest/formats/tau-bench.ts';
import { type LogFormat, RecordError } from '../../../src/ingest/log-format.ts';
import { contextOf, episodesOf, fixtures, readJson, readLines } from './context.ts';

const at = (name: string) => join(fixtures, name);
const CASES: readonly (readonly [string, LogFormat, unknown[], string])[] = [
  ['tau-bench', tauBench, readJson(at('tau-bench.json')), at('tau-bench.json')],
  ['OpenAI chat', chat, readLines(at('chat-openai.jsonl')), at('chat-openai.jsonl')],
  ['Anthropic chat', chat, readLines(at('chat-anthropic.jsonl')), at('chat-anthropic.jsonl')],
  ['ATIF', atif, [readJson(at('atif/trajectory.json'))], at('atif/trajectory.json')],
];

type Path = readonly (string | number)[];

/** Every place in a JSON value. */
function places(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => places(child, [...path, key]))];
}

/** The value with the place at `path` replaced; undefined removes it. */
function mutated(value: unknown, path: Path, by: unknown): unknown {
  if (path.length === 0) return by;
  const [key, ...rest] = path;
  const copy: Record<string, unknown> = Array.isArray(value)
    ? ([...value] as never)
    : { ...(value as Record<string, unknown>) };
  const next = mutated(copy[key as string], rest, by);
  if (next === undefined && !Array.isArray(copy)) delete copy[key as string];
  else
    Object.defineProperty(copy, key as string, {
      value: next,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return copy;
}

const junk = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, '', 'text', 0, -1, 1.5, 1e300, Infinity, true, false, [], {}),
  fc.constantFrom<unknown>([null], [[]], [{}], { role: 'assistant' }, '###STOP###', 'Error', '2026-01-05'),
  fc.constantFrom<unknown>('__proto__', 'constructor', JSON.parse('{"__proto__":{"a":1}}'), { toString: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);

describe.each(CASES)('%s', (_name, format, records, path) => {
  test.prop([fc.nat(), fc.array(fc.tuple(fc.nat(), junk), { minLength: 1, maxLength: 3 })], {
    numRuns: 400,
  })(
    'a record spoilt anywhere is read as a valid episode or refused with the place, never otherwise',
    async (which, spoils) => {
      let record = records[which % records.length];
      for (const [place, by] of spoils) {
        const all = places(record);
        record = mutated(record, all[place % all.length]!, by);
      }
      try {
        const read = await episodesOf(format, record, contextOf(path));
        for (const { episode } of read)
          for (const turn of episode.turns)
            if (turn.behaviour_logprob !== null) expect(turn.n_action_tokens).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(RecordError);
        expect((error as RecordError).message).toMatch(/^\S/);
      }
      expect(({} as Record<string, unknown>).a).toBeUndefined();
    },
  );

  test.prop([fc.jsonValue({ maxDepth: 4 })])('anything at all is read or refused', async (value) => {
    expect(format.recognise(value, path)).toBe(0);
    await expect(episodesOf(format, value, contextOf('x.json'))).rejects.toThrow(RecordError);
  });
});

describe('recognise', () => {
  const canonical = { episode_id: 'e', turns: [{ action: 'go' }] };
  const formats = [tauBench, chat, atif];
  const scores = (record: unknown) => formats.map((format) => format.recognise(record, 'file.json'));

  test('one format is sure of each record, the others say no', () => {
    for (const [, format, records] of CASES)
      for (const record of records)
        for (const other of formats)
          if (other === format) expect(other.recognise(record, 'file.json')).toBeGreaterThanOrEqual(0.9);
          else expect(other.recognise(record, 'file.json')).toBe(0);
  });

  test('a canonical record is none of them, whatever lies beside its turns', () => {
    expect(scores(canonical)).toEqual([0, 0, 0]);
    expect(scores({ ...canonical, messages: [] })).toEqual([0, 0, 0]);
  });

  test('at most one format claims a record, even with the fields of all', () => {
    const fields = { turns: [], traj: [], messages: [], steps: [], agent: {}, schema_version: 'ATIF-v1.6' };
    const names = Object.keys(fields) as (keyof typeof fields)[];
    for (let set = 0; set < 1 << names.length; set++) {
      const record = Object.fromEntries(
        names.filter((_, i) => set & (1 << i)).map((name) => [name, fields[name]]),
      );
      const claimed = scores(record).filter((score) => score > 0);
      expect(new Set(claimed).size).toBe(claimed.length);
    }
  });
});
