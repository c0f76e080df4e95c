/* Opens tensors with the settings given as JSON and prints which backend runs and why, or the refusal. */
import { openTensors } from '../../src/tensor/open-tensors.ts';

console.error('IMPORTED');
await openTensors(JSON.parse(process.argv[2]!)).then(
  async (tensors) => {
    console.log(`${tensors.backend} | ${tensors.why}`);
    await tensors.close();
  },
  (error: Error) => console.log(error.message),
);
