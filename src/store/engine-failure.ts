import { failure, TurnwiseError } from '../schema/error.ts';

/** Turns an error of the engine, or of the file system, into one that names the file and what to do. */
export function engineFailure(path: string, error: unknown): TurnwiseError {
  if (error instanceof TurnwiseError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const tell = (wrong: string, fix?: string) => failure({ subject: path, wrong, fix, cause: error });
  if (isLocked(said)) {
    const pid = /PID (\d+)/.exec(said)?.[1];
    return tell(
      `the store is in use by another process${pid ? ` (PID ${pid})` : ''}`,
      'A store has one writer, or any number of readers: wait until it is done, or end it, and try again.',
    );
  }
  if (/different configuration than existing connections/i.test(said))
    return tell('the store is already open in this process in another mode', 'Close it first.');
  if (/no space left|disk (is )?full|could not write|failed to offload|max_temp_directory/i.test(said))
    return tell(
      `the disk is full (${firstLine(said)})`,
      'Free some space on it and run again; nothing of the unfinished step was kept.',
    );
  if (/read-?only (database|mode)/i.test(said))
    return tell('the store was opened to read only', 'Open it to write.');
  if (/permission denied|EACCES|read-only file system|EROFS/i.test(said))
    return tell('permission denied', 'Check who owns the file and its folder.');
  if (/is a directory|EISDIR/i.test(said)) return tell('is a directory', 'Name a file.');
  if (/not a directory|ENOTDIR/i.test(said))
    return tell('a folder on the way to it is a file', 'Name another file.');
  if (/no such file or directory|ENOENT/i.test(said))
    return tell('its folder does not exist', 'Create the folder, or name another file.');
  if (/not a valid DuckDB database/i.test(said))
    return tell('is not a store: not a DuckDB file', 'Make one with "turnwise ingest FILES --store STORE".');
  if (/version number|newer version of DuckDB|storage version/i.test(said))
    return tell(`was written by another version of DuckDB (${firstLine(said)})`);
  if (/out of memory/i.test(said))
    return tell(
      `the engine ran out of memory (${firstLine(said)})`,
      memoryFix(/\/([\d.]+ \w+) used/.exec(said)?.[1]),
    );
  if (/corrupt|checksum/i.test(said)) return tell(`the file is damaged (${firstLine(said)})`);
  return tell(firstLine(said));
}

/** Whether it says that another process has the file open. */
export function isInUse(error: unknown): boolean {
  const { message, cause } = error as Error;
  return isLocked(message) || (cause instanceof Error && isLocked(cause.message));
}

const isLocked = (said: string): boolean =>
  /lock/i.test(said) && /conflicting|could not set lock|being used by another/i.test(said);

/** `had`: the limit in force. */
export function memoryFix(had: string | undefined): string {
  return `Let it have more with --memory (in a program: memoryLimit), for instance --memory 8GB${had === undefined ? '' : `; it had ${had}`}.`;
}

/** Whether an error came out of the engine or the file system rather than out of a mistake in the program. */
export function isEngineError(error: unknown): boolean {
  if (error instanceof TurnwiseError) return false;
  const said = error instanceof Error ? error.message : String(error);
  return /^(\w+ )+Error: /i.test(said) || (error as NodeJS.ErrnoException)?.syscall !== undefined;
}

/** The first line of a message of the engine, without its class and its web links. */
function firstLine(said: string): string {
  return said
    .split('\n', 1)[0]!
    .replace(
      /^((IO|Invalid|Out of Memory|Constraint|Conversion|Binder|Catalog|Parser|Fatal) (Input )?Error: )+/i,
      '',
    )
    .replace(/\s*See also https?:\S+/i, '')
    .replace(/\.$/, '');
}
