import type { ExitCode } from '../schema/error.ts';

/** One flag of a command, as `--help` shows it. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** What stands for the value in `--help`, for instance FILE. */
  readonly value?: string;
  readonly default?: string;
  /** Of a flag that may stand without a value: what it then means. The value is a number. */
  readonly absent?: string;
  readonly required?: true;
  readonly multiple?: true;
  /** Of a flag that is given once: what to do for several, a sentence. */
  readonly several?: string;
}

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Where a command writes: results to stdout, everything else to stderr. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** One rewriting line on a terminal, nothing elsewhere. */
  progress(text: string): void;
  readonly stdin: NodeJS.ReadableStream;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Positional arguments as `--help` shows them, for instance "<files…>"; absent: none taken. */
  readonly positionals?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Flags that no longer exist, and the ones to use in their place. */
  readonly renamed?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** Lines below the options: what a flag cannot say, the exit codes for instance. */
  readonly notes?: readonly string[];
  /** What it prints is data without `--json` too: its lines are never folded. */
  readonly prints?: 'data';
  /** Writes files that an interrupt takes back unless they are whole; it never computes for long without a pause. */
  readonly undone?: true;
  run(values: Values, positionals: readonly string[], io: Io): Promise<0 | ExitCode>;
}

/** Flags that several commands share. */
export const storeOption: Option = {
  type: 'string',
  value: 'FILE',
  help: 'the store, one DuckDB file',
  required: true,
};
export const memoryOption: Option = {
  type: 'string',
  value: 'SIZE',
  help: 'what the engine may hold, 4GB for instance; by default it grows as needed, to 3/4 of what the machine has',
};
/** Of every command that opens a store. */
export const storeOptions = { store: storeOption, memory: memoryOption } as const;
export const jsonOption: Option = { type: 'boolean', help: 'print the result as JSON and nothing else' };
export const seedOption: Option = {
  type: 'string',
  value: 'N',
  default: '0',
  help: 'seed of everything random',
};
