import { existsSync, rmSync } from 'node:fs';
import { openStore, type Store, type StoreOptions } from '../store/store.ts';

/**
 * Opens a store, made where there is none, for `body`, which says whether it added anything. A store that was
 * made here and got nothing, or whose `body` failed, is removed again.
 */
export async function withCreatedStore<T extends { readonly added: boolean }>(
  path: string,
  options: Omit<StoreOptions, 'mode'>,
  body: (store: Store) => Promise<T>,
): Promise<T> {
  const isNew = path !== ':memory:' && !existsSync(path);
  const store = await openStore(path, { ...options, mode: 'create' });
  let added = false;
  try {
    const done = await body(store);
    added = done.added;
    return done;
  } finally {
    store.close();
    if (isNew && !added) for (const end of ['', '.wal']) rmSync(path + end, { force: true });
  }
}
