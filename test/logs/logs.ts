import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Real logs, kept beside the repository and never in it. */
export const LOGS = resolve(import.meta.dirname, '../../../shared/logs');
export const missing = !existsSync(LOGS);
/** Belongs into the name of every suite that needs them. */
export const skipped = missing ? ' (skipped: ../shared is not here)' : '';
