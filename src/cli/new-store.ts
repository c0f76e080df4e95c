import { existsSync, rmSync } from 'node:fs';
import { openStore, type Store, type StoreOptions } from '../store/store.ts';
import { undoneUnlessWhole } from '../store/whole-file.ts';

/**
 * Opens a store, made where there is none, for `body`, which calls `keep` as soon as something of it stays. A store that
 * was made here and got nothing is removed again, also where `body` fails or the program is interrupted.
 */
export async function withCreatedStore<T>(
  path: string,
  options: Omit<StoreOptions, 'mode'>,
  body: (store: Store, keep: () => void) => Promise<T>,
): Promise<{ readonly result: T; readonly kept: boolean }> {
  const isNew = path !== ':memory:' && !existsSync(path);
  let kept = !isNew;
  const undo = () => {
    if (kept) return;
    for (const end of ['', '.wal', '.tmp']) rmSync(path + end, { recursive: true, force: true });
  };
  return undoneUnlessWhole(undo, async () => {
    const store = await openStore(path, { ...options, mode: 'create' });
    let result: T;
    try {
      result = await body(store, () => {
        kept = true;
      });
    } finally {
      store.close();
    }
    undo();
    return { result, kept };
  });
}
