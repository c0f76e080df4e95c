import type { EpisodeInput } from '../schema/episode.ts';
import type { FormatNote } from './notes.ts';

/** Every format `--format` takes; `auto` looks at the file. */
export const FORMAT_NAMES = ['canonical', 'scores', 'parquet', 'arrow', 'tau-bench', 'chat', 'atif'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/**
 * `line`: one record a line (JSONL). `element`: one record an element of a top-level JSON array.
 * `document`: the whole file is one record.
 */
export type Unit = 'line' | 'element' | 'document';

/** One log format: how its records lie in a file, and how a record becomes episodes. */
export interface LogFormat {
  readonly name: FormatName;
  /** How its records may lie in a file. An array is read by its elements where that is one of several. */
  readonly units: readonly Unit[];
  /** How sure, 0 (no) to 1 (certain), from the first record parsed and the path of the file. */
  recognise(first: unknown, path: string): number;
  /**
   * Episodes of one parsed record, in canonical input form; none: the record is read with another file. Throws
   * RecordError for a bad record.
   */
  read(record: unknown, context: RecordContext): readonly FormatEpisode[] | Promise<readonly FormatEpisode[]>;
}

export interface FormatEpisode {
  readonly episode: EpisodeInput;
  /** Gold answers and other leaking fields, stored apart and never read as state. */
  readonly fenced?: Readonly<Record<string, unknown>>;
  /** What is worth a warning, though the episode is kept. */
  readonly notes?: readonly FormatNote[];
}

export interface RecordContext {
  readonly path: string;
  /** Number of the record in the file, from 0. */
  readonly ordinal: number;
  readonly source: { readonly sha256: string };
  /** Every file of the call. */
  readonly given: readonly string[];
  /** What formats learn of these files and keep for the call, under names of their own. */
  readonly memo: Map<string, unknown>;
  /** JSON of a file beside this one, for continuations; a path that leaves the folder is refused. */
  readSibling(ref: string): Promise<unknown>;
}

/** A record that cannot be used: it becomes a row of `rejects`, and the file goes on. */
export class RecordError extends Error {
  readonly column: string | undefined;
  constructor(reason: string, column?: string) {
    super(reason);
    this.name = 'RecordError';
    this.column = column;
  }
}
