import { collect, type Work } from './collect.ts';
import type { Entry } from './entry.ts';

/** What has to run for those outputs that read no lost value; the others are lost too, and are handed to `lost`. */
export function collectSound(outputs: readonly Entry[], lost: (entry: Entry) => void): Work {
  try {
    return collect(outputs);
  } catch {
    // One of them reads what has failed: which ones do is found one by one.
    return collect(outputs.filter((entry) => isSound(entry, lost)));
  }
}

function isSound(entry: Entry, lost: (entry: Entry) => void): boolean {
  try {
    collect([entry]);
    return true;
  } catch (error) {
    entry.state = { kind: 'failed', error };
    lost(entry);
    return false;
  }
}
