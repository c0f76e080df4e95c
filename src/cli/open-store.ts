import { memorySize } from '../store/memory-limit.ts';
import { openStore, type Store } from '../store/store.ts';
import type { OpenOptions } from '../store/store-options.ts';
import { text } from './arguments.ts';
import type { Values } from './command.ts';

/** Opens the store that `--store` names, as `--memory` says. */
export function openGiven(values: Values, mode: OpenOptions['mode']): Promise<Store> {
  return openStore(text(values, 'store')!, { mode, ...givenMemory(values) });
}

/** What `--memory` says. @throws a usage failure where it is no size */
export function givenMemory(values: Values): Pick<OpenOptions, 'memoryLimit'> {
  const memoryLimit = text(values, 'memory');
  if (memoryLimit !== undefined) memorySize(memoryLimit, '--memory');
  return { memoryLimit };
}
