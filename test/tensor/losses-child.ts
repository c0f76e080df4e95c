/* Ten Adam steps of a model on one backend, in a process of its own: `losses-child.ts BACKEND decoder|mlp`. */
import { decoder, mlp } from '../../bench/tensor-decoder.ts';
import type { BackendName } from '../../src/tensor/backends.ts';
import { openTensors } from '../../src/tensor/open-tensors.ts';

const [backend, what] = process.argv.slice(2);
const tensors = await openTensors({ backend: backend as BackendName });
const { tf } = tensors;
const model =
  what === 'decoder'
    ? decoder(tf, { width: 16, batch: 2, length: 12 })
    : mlp(tf, { batch: 64, inputs: 10, hidden: 24 });
const adam = tf.train.adam(1e-2);
const losses: number[] = [];
for (let k = 0; k < 10; k++) {
  const loss = adam.minimize(() => model.loss(), true)!;
  losses.push((await loss.data())[0]!);
  loss.dispose();
}
console.log(JSON.stringify({ losses, label: tensors.label }));
await tensors.close();
process.exit(0);
