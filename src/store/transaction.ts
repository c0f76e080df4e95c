import { engineFailure, isEngineError } from './engine-failure.ts';
import type { Store } from './store.ts';

/**
 * Runs `body` in one transaction: all of its writes are kept, or, where it throws, none.
 * Transactions do not nest. Queries and scans inside see what was written.
 */
export async function transaction<T>(store: Store, body: () => Promise<T>): Promise<T> {
  if (store.state !== 'idle')
    throw new Error(
      `transaction: ${store.path} is ${store.state === 'closed' ? 'closed' : 'in a transaction'}`,
    );
  await store.connection.run('BEGIN');
  store.state = 'transaction';
  try {
    const value = await body();
    await store.connection.run('COMMIT');
    return value;
  } catch (error) {
    // After some errors the engine has already rolled back, and says so.
    await store.connection.run('ROLLBACK').catch(() => undefined);
    throw isEngineError(error) ? engineFailure(store.path, error) : error;
  } finally {
    store.state = 'idle';
  }
}
