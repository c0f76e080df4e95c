import { RecordError } from '../log-format.ts';
import type { FormatNote } from '../notes.ts';

/**
 * Reads a field that the record can do without: one that cannot be read is left out, named and counted,
 * and the rest of the record is kept.
 */
export function tolerant<T>(notes: FormatNote[], path: string, read: (path: string) => T): T | null {
  try {
    return read(path);
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    // The same field of all messages is one subject: messages[3].usage is messages[].usage.
    const about = (error.column ?? path).replace(/\[\d+\]/g, '[]');
    notes.push({ code: 'field-left-out', about });
    return null;
  }
}
