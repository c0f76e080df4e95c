import { failure } from '../schema/error.ts';

/** What tensors can run on, as "turnwise devices" lists them. */
export const BACKENDS = ['onnx', 'onnx-webgpu', 'onnx-cuda', 'onnx-web', 'node-gpu', 'cpu'] as const;
export type BackendName = (typeof BACKENDS)[number];

/**
 * The order in which they are tried where none is asked for: native first, then wasm, then plain JavaScript. A GPU
 * is taken only by name: float32 sums differ from device to device, and a machine that gains a driver should not
 * change its figures.
 */
export const DEFAULT_ORDER = ['onnx', 'onnx-web', 'cpu'] as const satisfies readonly BackendName[];

/** The variable that names a backend where openTensors is told none. */
export const VARIABLE = 'TURNWISE_BACKEND';

/** @throws a usage error where no backend has this name */
export function backendName(name: string, subject: string): BackendName {
  const found = BACKENDS.find((known) => known === name);
  if (found !== undefined) return found;
  throw failure({
    subject,
    wrong: 'no such backend',
    got: `"${name}"`,
    expected: `one of ${BACKENDS.join(', ')}`,
    exitCode: 2,
  });
}
