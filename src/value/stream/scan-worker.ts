import { parentPort, workerData } from 'node:worker_threads';
import { openStore } from '../../store/store.ts';
import { failedOf } from '../../threads/failed.ts';
import { firstScan, secondScan } from './scan.ts';
import type { Order, ThreadData } from './scan-threads.ts';

/** The thread behind `scanners`: one range of episodes, both passes, an engine of its own. */
const { path, plan, rows, range, memoryLimit, startLimit } = workerData as ThreadData;
const store = openStore(path, { mode: 'read', threads: 1, memoryLimit, startLimit });

parentPort!.on('message', async (order: Order) => {
  try {
    const open = await store;
    const done =
      order.pass === 'first'
        ? await firstScan(open, plan, rows, range, order.episodesAtMost)
        : await secondScan(open, plan, rows, range, order.terms);
    parentPort!.postMessage({ done }, [...buffersIn(done)]);
  } catch (error) {
    parentPort!.postMessage({ failed: failedOf(error) });
  }
});

/** The buffers under the large arrays of a record, for handing them over; maps of small ones are copied. */
function buffersIn(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Map))
    for (const x of Object.values(value)) buffersIn(x, found);
  return found;
}
