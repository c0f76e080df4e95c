import type { Batch } from '../store/batch.ts';
import { setMemoryLimit } from '../store/memory-limit.ts';
import type { Store } from '../store/store.ts';

/** Room for the engine while it ingests, beside what the longest segments need: see `tokenWindow`. */
export const INGEST_MEMORY = 256e6;
/** Rows the engine takes at once. */
const WINDOW = 2048;
/** An id, a mask, a log-probability, a version and a turn, with their validity. */
const TOKEN_BYTES = 18;

/**
 * Follows how many tokens lie in any 2,048 segments in a row, which the engine has to hold at once when it
 * commits, and raises its limit ahead of that. Memory follows the length of the segments, never their number.
 */
export function tokenWindow(store: Store): { add(segments: Batch): Promise<void> } {
  let rows = 0;
  let tokens = 0;
  let last = 0;
  let most = 0;
  let granted = INGEST_MEMORY;
  return {
    async add(segments) {
      const ids = segments.columns.token_ids;
      if (ids?.kind !== 'list') return;
      for (let i = 0; i < segments.rows; i++) {
        tokens += ids.offsets[i + 1]! - ids.offsets[i]!;
        // Windows of the table start anywhere in ours: two of ours cover one of its.
        most = Math.max(most, last + tokens);
        if (++rows % WINDOW !== 0) continue;
        last = tokens;
        tokens = 0;
      }
      const needed = INGEST_MEMORY + TOKEN_BYTES * most;
      if (needed < granted + 64e6) return;
      granted = needed;
      await setMemoryLimit(store, granted);
    },
  };
}
