import { rmSync } from 'node:fs';
import { openStore, type Store } from '../store/store.ts';
import { isStill } from '../store/store-file.ts';
import type { StoreOptions } from '../store/store-options.ts';
import { undoneUnlessWhole } from '../store/whole-file.ts';
import type { Io } from './command.ts';

/** A first writer is soon done with making the store; with reading logs into it, it may be long at it. */
const WAIT_SECONDS = 5;

/**
 * Opens a store, made where there is none, for `body`, which calls `keep` as soon as something of it stays. A store that
 * was made here and got nothing is removed again, also where `body` fails or the program is interrupted. One that another
 * process has open is waited for a little.
 */
export async function withCreatedStore<T>(
  path: string,
  options: Omit<StoreOptions, 'mode'>,
  io: Pick<Io, 'err'>,
  body: (store: Store, keep: () => void) => Promise<T>,
): Promise<{ readonly result: T; readonly kept: boolean }> {
  const opening = openStore(path, {
    ...options,
    mode: 'create',
    waitSeconds: WAIT_SECONDS,
    onWait: () => io.err(`${path}: in use by another process; waiting up to ${WAIT_SECONDS} seconds\n`),
  });
  let kept = false;
  let store: Store | undefined;
  const undo = async () => {
    store ??= await opening.catch(() => undefined);
    if (store?.made && !kept) discard(store);
  };
  return undoneUnlessWhole(undo, async () => {
    store = await opening;
    kept = !store.made;
    try {
      const result = await body(store, () => {
        kept = true;
      });
      return { result, kept };
    } finally {
      if (!kept) discard(store);
      store.close();
    }
  });
}

/** Removes a store while it is open, and so locked: once it is closed, another process may write to it. */
function discard(store: Store): void {
  if (store.state === 'closed' || !store.file || !isStill(store.file)) return;
  rmSync(`${store.file.path}.wal`, { force: true });
  rmSync(store.file.path, { force: true });
}
