import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { LogFormat, RecordContext } from '../../../src/ingest/log-format.ts';
import { type Episode, Episode as EpisodeSchema } from '../../../src/schema/episode.ts';

export const fixtures = resolve(import.meta.dirname, '../../fixtures/ingest');
export const shared = resolve(import.meta.dirname, '../../../../shared');

export function contextOf(path: string, ordinal = 0): RecordContext {
  return {
    path,
    ordinal,
    source: { sha256: '0'.repeat(64) },
    given: [path],
    memo: new Map(),
    readSibling: async (ref) => JSON.parse(await readFile(join(dirname(path), ref), 'utf8')),
  };
}

export const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
export const readLines = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** The episodes of a record, with the defaults of the canonical record filled in. */
export async function episodesOf(format: LogFormat, record: unknown, context: RecordContext) {
  const found = await format.read(record, context);
  return found.map((f) => ({ episode: EpisodeSchema.parse(f.episode) as Episode, fenced: f.fenced }));
}
