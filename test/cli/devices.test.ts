import { afterEach, expect, test, vi } from 'vitest';
import type { Io } from '../../src/cli/command.ts';
import { devicesCommand, devicesText } from '../../src/cli/devices.ts';
import { Devices } from '../../src/schema/devices.ts';

afterEach(() => vi.unstubAllEnvs());

async function printed(values: Record<string, string | boolean>): Promise<string> {
  let out = '';
  const io: Io = { out: (text) => (out += text), err() {}, progress() {}, stdin: process.stdin };
  expect(await devicesCommand.run(values, [], io)).toBe(0);
  return out;
}

test('every backend is listed, onnx first: with its times, or with one line that says why it is not there', async () => {
  vi.stubEnv('TURNWISE_BACKEND', undefined);
  const found = Devices.parse(JSON.parse(await printed({ json: true, threads: '2' })));
  expect(found.devices.map((d) => d.backend)).toEqual([
    'onnx',
    'onnx-webgpu',
    'onnx-cuda',
    'onnx-web',
    'node-gpu',
    'cpu',
  ]);
  for (const d of found.devices)
    if (d.runs) {
      expect(d.label).not.toBeNull();
      expect(d.whyNot).toBeNull();
      expect(d.productSeconds! * d.productGflops!).toBeCloseTo(2.147483648, 9);
      expect(d.stepSeconds).toBeGreaterThan(0);
      expect(d.peakMB).toBeGreaterThan(20);
    } else {
      expect(d.whyNot).toMatch(/^[^\n]{10,200}$/);
      expect([d.label, d.productSeconds, d.productGflops, d.stepSeconds, d.peakMB]).toEqual(
        Array(5).fill(null),
      );
    }
  const runs = Object.fromEntries(found.devices.map((d) => [d.backend, d.runs]));
  expect(runs).toMatchObject({ onnx: true, 'onnx-web': true, cpu: true });
  expect(found).toMatchObject({ taken: 'onnx', threads: 2 });
  expect(found.devices[0]!.label).toMatch(/^onnxruntime-node .*, cpu, 2 threads$/);
});

test('an unknown name in TURNWISE_BACKEND and threads that are none are usage errors', async () => {
  vi.stubEnv('TURNWISE_BACKEND', 'gpu');
  await expect(printed({})).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^TURNWISE_BACKEND: no such backend, got "gpu", expected one of onnx, /),
  });
  await expect(printed({ threads: '0' })).rejects.toMatchObject({ exitCode: 2 });
});

test('for a person: those that run, then why the others do not, then the one that is taken', () => {
  const none = { label: null, productSeconds: null, productGflops: null, stepSeconds: null, peakMB: null };
  const text = devicesText({
    taken: 'onnx',
    why: 'the first that runs here of onnx, cpu',
    threads: 2,
    devices: [
      {
        backend: 'onnx',
        runs: true,
        whyNot: null,
        label: 'onnxruntime-node, 2 threads',
        productSeconds: 0.0123,
        productGflops: 174.59,
        stepSeconds: 0.00149,
        peakMB: 210,
      },
      { backend: 'onnx-webgpu', runs: false, whyNot: 'no Vulkan loader', ...none },
      {
        backend: 'cpu',
        runs: true,
        whyNot: null,
        label: 'TensorFlow.js',
        productSeconds: 2.5,
        productGflops: 0.859,
        stepSeconds: 0.25,
        peakMB: 180,
      },
    ],
  });
  expect(text).toBe(
    [
      '  backend   product  GFLOP/s    step  runs on',
      '  onnx      12.3 ms    174.6  1.5 ms  onnxruntime-node, 2 threads',
      '  cpu      2,500 ms      0.9  250 ms  TensorFlow.js',
      '',
      'Not here',
      '  backend      why',
      '  onnx-webgpu  no Vulkan loader',
      '',
      'Taken: onnx, the first that runs here of onnx, cpu.',
      '',
    ].join('\n'),
  );
  const gone = { backend: 'node-gpu', runs: false, whyNot: 'the package is not installed', ...none };
  expect(
    devicesText({ taken: null, why: 'asked for: node-gpu, which is not there', threads: 1, devices: [gone] }),
  ).toMatch(/Taken: none, asked for: node-gpu, which is not there\.\n$/);
});
