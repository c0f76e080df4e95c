/** How a failure leaves the command line: 1 failed, 2 usage, 3 the audit says no. */
export type ExitCode = 1 | 2 | 3;

/** What an error message is made of; every part but the first two may be left out. */
export interface ErrorParts {
  /** What the message is about: a file, a column, a command. */
  readonly subject: string;
  /** What is wrong with it, in lower case. */
  readonly wrong: string;
  readonly got?: string | number | undefined;
  readonly expected?: string | undefined;
  /** What to do about it, a sentence. */
  readonly fix?: string | undefined;
  /** Defaults to 1. */
  readonly exitCode?: ExitCode | undefined;
  readonly cause?: unknown;
}

/** An error meant for the person at the keyboard: printed without a stack trace. */
export class TurnwiseError extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TurnwiseError';
    this.exitCode = exitCode;
  }
}

/** "<subject>: <what is wrong>, got X, expected Y. <fix>" */
export function failure(parts: ErrorParts): TurnwiseError {
  let message = `${parts.subject}: ${parts.wrong}`;
  if (parts.got !== undefined) message += `, got ${parts.got}`;
  if (parts.expected !== undefined) message += `, expected ${parts.expected}`;
  if (parts.fix !== undefined) message += `. ${parts.fix}`;
  return new TurnwiseError(message, parts.exitCode ?? 1, parts.cause);
}
