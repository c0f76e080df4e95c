/*
 * Frozen tensors: constants of the graphs that read them, bound when a graph is compiled, neither fed nor copied at
 * each run. Gradients with respect to what they are computed with pass through them.
 */
import type { Rank, Tensor } from '@tensorflow/tfjs';
import type { Tf } from './engine.ts';
import { dtypeIn, placeIn, placeValues } from './file-place.ts';
import type { Recorder } from './onnx/recorder.ts';
import type { SafeEntry } from './safetensors-header.ts';

export interface Freezer {
  /**
   * A constant of the values that a tensor has now (a variable too: what is assigned to it later is not seen). The
   * tensor stays its owner's. Each compiled graph keeps a copy of its own, all of a graph's constants in memory
   * together less than 2 GiB; disposing the frozen tensor releases the graphs that hold it. Plain backends share.
   */
  freeze<R extends Rank>(tensor: Tensor<R>): Promise<Tensor<R>>;
  /**
   * A constant that stays in its file, F32, F16 or BF16 (float32 as a tensor) or I32, at any offset: `place` as the
   * header of a safetensors file has it. onnxruntime-node maps the bytes into memory; onnxruntime-web is handed them
   * at each compilation; plain backends read them at once. The file stays as it is for as long: a run after it has
   * been written to or removed is refused by name.
   * @throws where the bytes are not in the file, naming file and offsets
   */
  freezeFile(path: string, place: SafeEntry): Promise<Tensor>;
}

/** Of the recorder where there is one; elsewhere a frozen tensor is one like any other. */
export function freezer(tf: Tf, recorder: Recorder | null): Freezer {
  const constant = (
    held: Parameters<Recorder['frozen']>[0],
    shape: readonly number[],
    dtype: string,
  ): Tensor =>
    tf.engine().makeTensorFromTensorInfo(recorder!.frozen(held, shape, dtype) as never, recorder as never);
  return {
    async freeze<R extends Rank>(tensor: Tensor<R>): Promise<Tensor<R>> {
      if (recorder === null || tensor.size === 0) return tf.clone(tensor);
      // A copy: a tensor may share the list that it was made of, and a constant of compiled graphs must not change.
      const values = (await tensor.data()).slice() as Float32Array;
      return constant(values, tensor.shape, tensor.dtype) as Tensor<R>;
    },
    async freezeFile(path, { dtype, shape, begin, end }) {
      const place = await placeIn(path, { dtype, shape, begin, end });
      if (recorder !== null && begin < end) return constant(place, shape, dtypeIn(place));
      return tf.tensor(await placeValues(place), [...shape], dtypeIn(place));
    },
  };
}
