import { failure } from '../schema/error.ts';

/** More than any machine has use for, and few enough to be started. */
const MOST = 256;

/** @throws where it is no number of threads */
export function checkThreads(threads: number | undefined): void {
  if (threads === undefined || (Number.isSafeInteger(threads) && threads >= 1 && threads <= MOST)) return;
  throw failure({
    subject: 'threads',
    wrong: 'are out of range',
    got: threads,
    expected: `a whole number from 1 to ${MOST}`,
    exitCode: 2,
  });
}
