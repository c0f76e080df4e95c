/* Whole training runs end at the same losses on every backend that runs here. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const child = join(import.meta.dirname, 'losses-child.ts');
/** A GPU in software, where Chromium is installed: any other driver is found by the loader itself. */
const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';
const env = existsSync(SWIFTSHADER)
  ? { ...process.env, VK_DRIVER_FILES: SWIFTSHADER, VK_ICD_FILENAMES: SWIFTSHADER, XDG_RUNTIME_DIR: '/tmp' }
  : process.env;

async function losses(backend: string, what: string): Promise<number[]> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', child, backend, what], { env });
  return JSON.parse(stdout).losses;
}

for (const what of ['decoder', 'mlp']) {
  const reference = losses('cpu', what);
  reference.catch(() => undefined);
  for (const backend of ['onnx', 'onnx-web', 'onnx-webgpu', 'node-gpu'])
    test(`${what} on ${backend}`, async ({ skip }) => {
      const expected = await reference;
      expect(expected[9]!).toBeLessThan(0.99 * expected[0]!); // it learns
      const found = await losses(backend, what).catch((error: { stderr?: string }) => {
        const why = /is not there: (.*)/.exec(error.stderr ?? '')?.[1];
        if (why === undefined) throw error;
        skip(`skipped: ${why}`);
        return [];
      });
      for (const [k, loss] of found.entries())
        expect(
          Math.abs(loss / expected[k]! - 1),
          `step ${k}: ${loss}, cpu ${expected[k]}`,
        ).toBeLessThanOrEqual(1e-4);
    });
}
