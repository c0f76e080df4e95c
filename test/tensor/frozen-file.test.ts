/* Tensors that stay in their file: any offset, three widths of floats, and a file that is not what it was. */
import { mkdtempSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freezeSafetensors, openTensors, type Tensors, writeSafetensors } from '../../src/index.ts';
import { freezer } from '../../src/tensor/freeze.ts';
import { spied } from './spied.ts';

let folder: string;
let path: string;
beforeAll(() => {
  tf.env().set('PROD', true);
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-frozen é '));
  path = join(folder, 'weights 1.bin');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** 1, −10, 0.5, 3 in each type, by their bits; a prefix of 3 bytes, so that nothing is aligned. */
const BITS = {
  F32: new Uint32Array([0x3f800000, 0xc1200000, 0x3f000000, 0x40400000]),
  F16: new Uint16Array([0x3c00, 0xc900, 0x3800, 0x4200]),
  BF16: new Uint16Array([0x3f80, 0xc120, 0x3f00, 0x4040]),
} as const;
function plant(bits: Uint32Array | Uint16Array | Int32Array, shape = [2, 2], before = 3, after = 2) {
  const bytes = new Uint8Array(bits.buffer);
  writeFileSync(path, Buffer.concat([Buffer.alloc(before, 0xff), bytes, Buffer.alloc(after, 0xff)]));
  return { shape, begin: before, end: before + bytes.length };
}

describe.each(['onnx', 'onnx-web', 'cpu'] as const)('on %s', (backend) => {
  let tensors: Tensors;
  beforeAll(async () => {
    tensors = await openTensors({ backend, threads: 1 });
  });
  afterAll(() => tensors.close());

  test.each(['F32', 'F16', 'BF16'] as const)('%s at an odd offset', async (dtype) => {
    const frozen = await tensors.freezeFile(path, { dtype, ...plant(BITS[dtype]) });
    expect(frozen.dtype).toBe('float32');
    // [1, 2] · [[1, −10], [0.5, 3]]; the gradient is the sums of the rows.
    const x = tf.tensor2d([[1, 2]]);
    const product = tf.matMul(x, frozen as tf.Tensor2D);
    expect([...(await product.data())]).toEqual([2, -4]);
    const slope = tf.grad((z) => tf.sum(tf.matMul(z as tf.Tensor2D, frozen as tf.Tensor2D)))(x);
    expect([...(await slope.data())]).toEqual([-9, 3.5]);
    expect([...(await tf.transpose(tf.reshape(frozen, [4, 1])).data())]).toEqual([1, -10, 0.5, 3]);
    expect(await frozen.data()).toEqual(Float32Array.of(1, -10, 0.5, 3));
    tf.dispose([x, product, slope, frozen]);
    expect(tensors.memory().sessions).toBe(0);
  });

  test('whole numbers and empty tensors', async () => {
    const places = await tensors.freezeFile(path, { dtype: 'I32', ...plant(Int32Array.of(2, 0), [2]) });
    expect(places.dtype).toBe('int32');
    const table = tf.tensor1d([10, 20, 30]);
    expect([...(await tf.gather(table, places as tf.Tensor1D).data())]).toEqual([30, 10]);
    const none = await tensors.freezeFile(path, { dtype: 'F32', shape: [0, 3], begin: 1, end: 1 });
    expect([none.shape, (await none.data()).length]).toEqual([[0, 3], 0]);
  });

  test('a whole safetensors file, by name; some of it', async () => {
    const [a, b] = [Float32Array.of(1, 2), Float32Array.of(3, -4)];
    await writeSafetensors(path, {
      a: { dtype: 'F32', shape: [2], values: a },
      b: { dtype: 'BF16', shape: [1, 2], values: b },
    });
    const held = tensors.memory().tensors;
    const all = await freezeSafetensors(tensors, path);
    expect([...all.keys()].sort()).toEqual(['a', 'b']);
    expect([...(await tf.mul(all.get('a')!, all.get('b')!).data())]).toEqual([3, -8]);
    const some = await freezeSafetensors(tensors, path, ['b']);
    expect([...some.keys()]).toEqual(['b']);
    tf.dispose([...all.values(), ...some.values()]);
    await expect(freezeSafetensors(tensors, path, ['a', 'c'])).rejects.toThrow(
      `${path}: no such tensor, got "c", expected one of its 2`,
    );
    await writeSafetensors(path, {
      a: { dtype: 'F32', shape: [2], values: a },
      mask: { dtype: 'BOOL', shape: [1], values: Uint8Array.of(1) },
    });
    await expect(freezeSafetensors(tensors, path)).rejects.toThrow(
      /^tensor "mask": .*cannot be frozen in their file, got BOOL, .* "names" leaves it out\.$/,
    );
    expect(tensors.memory().tensors).toBe(held + 1); // the product
  });

  test('what is not in the file is refused before anything runs', async () => {
    const place = plant(BITS.F32);
    const at = `${path}: bytes`;
    await expect(tensors.freezeFile(path, { dtype: 'F32', ...place, shape: [3] })).rejects.toThrow(
      `${at} 3 to 19: do not fit F32 of shape [3], got 16 bytes, expected 12`,
    );
    await expect(tensors.freezeFile(path, { dtype: 'F32', shape: [4], begin: 6, end: 22 })).rejects.toThrow(
      `${at} 6 to 22: lie outside the file: truncated, or a wrong offset, got a file of 21 bytes`,
    );
    await expect(tensors.freezeFile(path, { dtype: 'F32', shape: [4], begin: -1, end: 15 })).rejects.toThrow(
      `${at} -1 to 15: shape and place are not whole numbers`,
    );
    await expect(tensors.freezeFile(path, { dtype: 'I64', shape: [2], begin: 3, end: 19 })).rejects.toThrow(
      `${at} 3 to 19: cannot be frozen in their file, got I64, expected one of F32, F16, BF16, I32.`,
    );
    await expect(tensors.freezeFile(`${path}.gone`, { dtype: 'F32', ...place })).rejects.toThrow(
      `${path}.gone: does not exist`,
    );
    await expect(tensors.freezeFile(folder, { dtype: 'F32', ...place })).rejects.toThrow(
      `${folder}: is no regular file`,
    );
  });
});

describe('a file that is not what it was', () => {
  const CHANGES: readonly [what: string, change: () => void, message: string][] = [
    ['removed', () => rmSync(path), 'the file does not exist any more'],
    [
      'cut short',
      () => truncateSync(path, 10),
      'the file has become shorter since they were frozen, got 10 bytes, expected at least 19',
    ],
    [
      'written to',
      () => {
        plant(BITS.F32);
        utimesSync(path, 1, 1);
      },
      'the file has changed since they were frozen',
    ],
    [
      'replaced',
      () => {
        writeFileSync(`${path}.part`, Buffer.alloc(30));
        renameSync(`${path}.part`, path);
      },
      'the file has changed since they were frozen',
    ],
  ];
  for (const [what, change, message] of CHANGES)
    test(`${what}: refused before it is compiled, before it is run, and when it is read`, async ({
      skip,
    }) => {
      const { recorder, runs, compiled } = await spied(`file-${what}`, skip);
      const { freezeFile } = freezer(tf, recorder);
      const frozen = await freezeFile(path, { dtype: 'F32', ...plant(BITS.F32) });
      const kept = tf.mul(frozen, 2);
      expect([...(await kept.data())]).toEqual([2, -20, 1, 6]);
      expect([runs.length, compiled.length]).toEqual([1, 1]);
      change();
      const subject = `${path}: bytes 3 to 19: ${message}`;
      await expect(tf.mul(frozen, 2).data()).rejects.toThrow(subject); // compiled
      await expect(tf.exp(frozen).data()).rejects.toThrow(subject); // not compiled
      await expect(frozen.data()).rejects.toThrow(subject);
      expect([runs.length, compiled.length]).toEqual([1, 1]);
      expect([...(await kept.data())]).toEqual([2, -20, 1, 6]);
      expect(recorder.stats().sessions).toBe(0);
      frozen.dispose();
      await recorder.close();
    });

  test('its values are not there for who does not wait', async ({ skip }) => {
    const { recorder } = await spied('file-sync', skip);
    const frozen = await freezer(tf, recorder).freezeFile(path, { dtype: 'F32', ...plant(BITS.F32) });
    expect(() => frozen.dataSync()).toThrow(/lies in a file and cannot be read synchronously/);
    await recorder.close();
  });
});
