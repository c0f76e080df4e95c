import { isSimulated } from '../inspect/simulated.ts';
import { inline } from '../report/plain.ts';
import type { Warning } from '../schema/warning.ts';

/** A line that says so where the logs are simulated: it stands beside the numbers, not among the warnings. */
export const simulatedText = (warnings: readonly Warning[] = []): string =>
  warnings
    .filter(isSimulated)
    .map(({ message }) => `  ${inline(message)}\n`)
    .join('');
