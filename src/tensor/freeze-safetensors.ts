import type { Tensor } from '@tensorflow/tfjs';
import { failure, TurnwiseError } from '../schema/error.ts';
import type { Freezer } from './freeze.ts';
import { openSafetensors } from './safetensors.ts';

/** The failure of one of many says which. */
async function named<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof TurnwiseError)) throw cause;
    const hint = / cannot be frozen /.test(cause.message) ? ' "names" leaves it out.' : '';
    throw new TurnwiseError(`tensor ${JSON.stringify(name)}: ${cause.message}${hint}`, cause.exitCode, cause);
  }
}

/**
 * The tensors of a safetensors file as constants that stay in it, by name: its header is read, its values are not.
 * `names` chooses some of them.
 * @throws as openSafetensors and freezeFile do; nothing is left frozen then
 */
export async function freezeSafetensors(
  tensors: Freezer,
  path: string,
  names?: Iterable<string>,
): Promise<ReadonlyMap<string, Tensor>> {
  const file = await openSafetensors(path);
  await file.close();
  const frozen = new Map<string, Tensor>();
  try {
    for (const name of new Set(names ?? file.entries.keys())) {
      const entry = file.entries.get(name);
      if (entry === undefined)
        throw failure({
          subject: path,
          wrong: 'no such tensor',
          got: JSON.stringify(name),
          expected: `one of its ${file.entries.size}`,
        });
      frozen.set(name, await named(name, tensors.freezeFile(path, entry)));
    }
    return frozen;
  } catch (error) {
    for (const tensor of frozen.values()) tensor.dispose();
    throw error;
  }
}
