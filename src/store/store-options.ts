import { z } from 'zod';
import { failure } from '../schema/error.ts';
import { parseConfig } from '../schema/parse-config.ts';

/** How a store is opened. */
export interface StoreOptions {
  /** 'create' makes the file where there is none; 'write' and 'read' need a store. Default: 'read', in memory 'create'. */
  readonly mode?: 'create' | 'write' | 'read' | undefined;
  /**
   * What the engine may hold before it spills beside the store, "4GB" for instance; that is kept. Default: 512MB to
   * start with, more where a query needs it, up to three quarters of the memory of the machine or the container.
   */
  readonly memoryLimit?: string | undefined;
  /** Where a limit that may grow starts; default 512MB. */
  readonly startLimit?: string | undefined;
  /** Default: as many as there are cores. */
  readonly threads?: number | undefined;
  /** How long to wait for a store that another process has open; default 0: it is refused at once. */
  readonly waitSeconds?: number | undefined;
  /** Called once where it waits. */
  readonly onWait?: (() => void) | undefined;
}

/** With a mode. */
export type OpenOptions = StoreOptions & { readonly mode: NonNullable<StoreOptions['mode']> };

const StoreSettings = z.strictObject({
  mode: z.enum(['create', 'write', 'read']).optional(),
  memoryLimit: z.string().optional(),
  startLimit: z.string().optional(),
  threads: z.int().min(1).optional(),
  waitSeconds: z.number().min(0).optional(),
  onWait: z.custom<() => void>((f) => typeof f === 'function', 'expected a function').optional(),
});

/** The options of `openStore`, looked at. @throws a usage error (2) that names what is wrong */
export function storeOptions(path: unknown, options: unknown): OpenOptions {
  if (typeof path !== 'string' || path === '')
    throw failure({
      subject: 'openStore, path',
      wrong: 'is no name of a file',
      got: path === '' ? 'an empty one' : path === null ? 'null' : typeof path,
      expected: 'the path of a store, or ":memory:"',
      exitCode: 2,
    });
  if (typeof options !== 'object' || options === null)
    throw failure({
      subject: 'openStore, options',
      wrong: 'is no object',
      got: typeof options === 'string' ? `"${options}"` : String(options),
      expected: `{ mode: 'create' }, 'write' or 'read'`,
      exitCode: 2,
    });
  const { mode = path === ':memory:' ? 'create' : 'read', ...rest } = parseConfig(
    StoreSettings,
    options,
    'openStore, options',
  );
  return { mode, ...rest };
}
