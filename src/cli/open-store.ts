import { memorySize } from '../store/memory-limit.ts';
import { openStore, type Store, type StoreOptions } from '../store/store.ts';
import { text } from './arguments.ts';
import type { Values } from './command.ts';

/** Opens the store that `--store` names, as `--memory` says. */
export function openGiven(values: Values, mode: StoreOptions['mode']): Promise<Store> {
  return openStore(text(values, 'store')!, { mode, ...givenMemory(values) });
}

/** What `--memory` says. @throws a usage failure where it is no size */
export function givenMemory(values: Values): Pick<StoreOptions, 'memoryLimit'> {
  const memoryLimit = text(values, 'memory');
  if (memoryLimit !== undefined) memorySize(memoryLimit, '--memory');
  return { memoryLimit };
}
