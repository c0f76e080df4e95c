import { parentPort, workerData } from 'node:worker_threads';
import { failedOf } from '../../threads/failed.ts';
import { type Order, type Shared, work } from './work.ts';

/** A thread of `estimateArrays`: takes chunks of what is in shared memory. */
const shared = workerData as Shared;

parentPort!.on('message', (order: Order) => {
  try {
    work(shared, order);
    parentPort!.postMessage({ done: null });
  } catch (error) {
    parentPort!.postMessage({ failed: failedOf(error) });
  }
});
