import { failure, TurnwiseError } from '../../schema/error.ts';
import { oneLine } from '../why-not.ts';
import type { Work } from './collect.ts';
import { bytesOf, type Entry } from './entry.ts';

/** What ONNX Runtime says when there is no memory, or could never be: sizes beyond what it counts in. */
const MEMORY =
  /bad_alloc|out of memory|\(OOM\)|allocat(?:e|ion)\b.*(?:memory|buffer|failed)|Integer overflow|shape is too large|bytes, which exceeds/i;
const LOST = /(?:device|adapter)\b.*\blost|lost\b.*(?:device|adapter)|DEVICE_(?:LOST|REMOVED)/i;

/** A run that ONNX Runtime did not end, by name; the cause is kept. What was computed before is still there. */
export function runFailure(
  cause: unknown,
  { backend, stage, work }: { backend: string; stage: 'compile' | 'run'; work: Work },
): TurnwiseError {
  if (cause instanceof TurnwiseError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const subject = `${backend} backend`;
  const failed = stage === 'run' ? 'the run failed' : 'the graph could not be compiled';
  if (MEMORY.test(message))
    return failure({
      subject,
      wrong: `${failed}: there is not enough memory`,
      got: shown(largest(work)),
      fix: 'Take a smaller micro-batch, and add up what comes of each.',
      cause,
    });
  if (LOST.test(message))
    return failure({
      subject,
      wrong: `${failed}: the device is lost (${oneLine(cause)})`,
      fix: 'What was computed before can still be read; close the tensors, and open them again or on another backend.',
      cause,
    });
  return failure({
    subject,
    wrong: `${failed}: ${oneLine(cause).replace(/\.$/, '')}`,
    // What a device says of a tensor that is too large for it is about something else.
    got: bytesOf(largest(work)) < 2 ** 30 ? undefined : shown(largest(work)),
    fix: 'What was computed before can still be read.',
    cause,
  });
}

/** The largest tensor that a work makes or reads. */
function largest({ order, leaves }: Work): Entry {
  let most = leaves[0] ?? order[0]!;
  for (const entry of [...leaves, ...order]) if (bytesOf(entry) > bytesOf(most)) most = entry;
  return most;
}

function shown(entry: Entry): string {
  const size = bytesOf(entry) / 2 ** 30;
  const digits = size < 0.01 ? size.toPrecision(1) : size.toFixed(2);
  return `a tensor of ${digits} GiB at the largest, ${entry.dtype} [${entry.shape.join(', ')}]`;
}
