import { type ExitCode, TurnwiseError } from '../schema/error.ts';

/** An error as it goes to another thread: a copy of one has lost its class and its exit code. */
export type Failed =
  | { readonly message: string; readonly exitCode: ExitCode }
  | { readonly unexpected: unknown };

export const failedOf = (error: unknown): Failed =>
  error instanceof TurnwiseError
    ? { message: error.message, exitCode: error.exitCode }
    : { unexpected: error };

export const errorOf = (failed: Failed): unknown =>
  'unexpected' in failed ? failed.unexpected : new TurnwiseError(failed.message, failed.exitCode);
