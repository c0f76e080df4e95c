import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { normal, random } from '../../src/math/random.ts';
import { adamw } from '../../src/tensor/adamw.ts';
import { gradientStep } from '../../src/tensor/gradient-step.ts';
import { mlp, mlpParameters } from '../../src/tensor/mlp.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';

const root = resolve(import.meta.dirname, '../..');

let tensors: Tensors | undefined;
afterEach(async () => {
  await tensors?.close();
  tensors = undefined;
  vi.unstubAllEnvs();
});

/** Runs a script of the tests in a process of its own; what it printed. */
async function child(
  script: 'open-child.ts' | 'train-child.ts',
  args: readonly string[],
  more: { readonly node?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<{ out: string; err: string }> {
  const file = resolve(import.meta.dirname, script);
  const done = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', ...(more.node ?? []), file, ...args],
    // One that is assembled here would be taken before wasm.
    { cwd: root, env: { ...process.env, TURNWISE_BACKEND: '', TURNWISE_NODE_GPU: 'nowhere', ...more.env } },
  );
  return { out: done.stdout.trim(), err: done.stderr };
}

/** A loader hook, as an argument of Node. */
function hooked(body: string): string[] {
  const url = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
  const hook = url(`export async function resolve(name, context, next) { ${body} }`);
  return ['--import', url(`import { register } from 'node:module'; register(${JSON.stringify(hook)});`)];
}

/** Hides packages from a process, as if they were not installed. */
const without = (...names: string[]): string[] =>
  hooked(`if (${JSON.stringify(names)}.includes(name)) {
    const error = new Error("Cannot find package '" + name + "' imported from here");
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
  }
  return next(name, context);`);

test('importing the door loads neither TensorFlow.js nor ONNX Runtime; opening it does', async () => {
  const node = hooked(`const found = await next(name, context);
    if (/node_modules/.test(found.url)) process._rawDebug(found.url);
    return found;`);
  const [imported, opened] = (await child('open-child.ts', ['{"backend":"onnx"}'], { node })).err.split(
    'IMPORTED',
  );
  expect(imported).toMatch(/pure-rand/); // the hook sees what is loaded
  expect(imported).not.toMatch(/tensorflow|onnxruntime/);
  expect(opened).toMatch(/@tensorflow\/tfjs\//);
  expect(opened).toMatch(/onnxruntime-node/);
});

test('without being asked, the native runtime is taken, and the line says so', async () => {
  vi.stubEnv('TURNWISE_BACKEND', undefined);
  tensors = await openTensors({ threads: 2 });
  expect(tensors.backend).toBe('onnx');
  expect(tensors.why).toMatch(
    /^onnx: onnxruntime-node \d+\.\d+\.\d+, cpu, 2 threads; the first that runs here of onnx, onnx-web, cpu$/,
  );
  expect(tensors.threads).toBe(2);
});

test('TURNWISE_BACKEND chooses, and an argument chooses before it', async () => {
  vi.stubEnv('TURNWISE_BACKEND', 'cpu');
  tensors = await openTensors();
  expect(tensors.backend).toBe('cpu');
  expect(tensors.why).toMatch(/asked for by TURNWISE_BACKEND$/);
  await tensors.close();
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  expect(tensors.backend).toBe('onnx');
  expect(tensors.why).toMatch(/, cpu, 1 thread; asked for$/);
});

test('closed, it refuses by name what would run elsewhere; what has been computed can be read', async () => {
  const tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const layers = mlp(tensors, { sizes: [1, 1] });
  const optimiser = adamw(tensors, mlpParameters(layers));
  const y = tf.add(tf.ones([2]), 1);
  await y.data();
  const pending = tf.exp(tf.ones([2]));
  await tensors.close();
  const closed = 'tensors on onnx: have been closed. Close once all is done, or open them again.';
  expect(() => tensors.tf).toThrow(closed);
  await expect(gradientStep(tensors, optimiser, () => tf.scalar(0))).rejects.toThrow(closed);
  expect(() => adamw(tensors, mlpParameters(layers))).toThrow(closed);
  await expect(tensors.freeze(y)).rejects.toThrow(closed);
  await expect(tensors.freezeFile('nowhere', {} as never)).rejects.toThrow(closed);
  expect([...(await y.data())]).toEqual([2, 2]);
  await expect(pending.data()).rejects.toThrow(/have been closed before this one was computed/);
});

test('a setting that nobody reads is refused', async () => {
  await expect(openTensors({ backnd: 'cpu' } as never)).rejects.toThrow(
    'openTensors: no such setting, got backnd, expected among backend, seed, threads, graphs',
  );
  const opened = await openTensors({ backend: 'cpu' });
  tensors = opened; // closed after the test
  const layers = mlp(tensors, { sizes: [1, 1] });
  const optimiser = adamw(tensors, mlpParameters(layers));
  await expect(
    gradientStep(tensors, optimiser, () => opened.tf.scalar(0), { rate: 1 } as never),
  ).rejects.toThrow('gradientStep: no such setting, got rate, expected among learningRate');
});

test('a name that is no backend is a usage error that lists them', async () => {
  const expected = 'expected one of onnx, onnx-webgpu, onnx-cuda, onnx-web, node-gpu, cpu';
  vi.stubEnv('TURNWISE_BACKEND', 'cuda');
  await expect(openTensors()).rejects.toMatchObject({
    message: `TURNWISE_BACKEND: no such backend, got "cuda", ${expected}`,
    exitCode: 2,
  });
  await expect(openTensors({ backend: 'gpu' as never })).rejects.toThrow(
    `backend: no such backend, got "gpu", ${expected}`,
  );
  await expect(openTensors({ graphs: 0 })).rejects.toThrow(/graphs: are out of range, got 0/);
  await expect(openTensors({ threads: 2000 })).rejects.toThrow(/threads: are out of range, got 2000/);
  await expect(openTensors({ threads: 0 })).rejects.toThrow(/threads: are out of range, got 0/);
  await expect(openTensors({ seed: 0.5, backend: 'cpu' })).rejects.toThrow(/seed must be a whole number/);
});

test('one door at a time; closed, another opens on the same name and on others', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  await expect(openTensors({ backend: 'onnx' })).rejects.toThrow(/openTensors: is open already, on cpu/);
  for (const backend of ['onnx', 'onnx', 'cpu', 'onnx-web', 'onnx'] as const) {
    await tensors.close();
    tensors = await openTensors({ backend, threads: 2 });
    const { tf } = tensors;
    const product = tf.tidy(() => tf.matMul(tf.tensor2d([[1, 2]]), tf.tensor2d([[3], [4]])));
    expect([...(await product.data())]).toEqual([11]);
    product.dispose();
    expect(tf.getBackend()).toBe(backend);
    expect(tensors.memory()).toMatchObject({ pending: 0, sessions: backend === 'cpu' ? 0 : 1 });
  }
  const before = tensors;
  await before.close();
  tensors = await openTensors({ backend: 'cpu' });
  await before.close(); // a second time: not the one that is open now
  await expect(openTensors()).rejects.toThrow(/is open already, on cpu/);
});

test('the memory counts tensors, entries, what is pending, graphs and bytes', async () => {
  tensors = await openTensors({ backend: 'onnx' });
  const { tf } = tensors;
  const held = tensors.memory().tensors;
  const x = tf.ones([2, 2]);
  const y = tf.add(x, x);
  expect(tensors.memory()).toMatchObject({
    tensors: held + 2,
    pending: 1,
    compiles: 0,
    sessions: 0,
    runs: 0,
  });
  expect([...(await y.data())]).toEqual([2, 2, 2, 2]);
  expect(tensors.memory()).toMatchObject({
    tensors: held + 2,
    pending: 0,
    compiles: 1,
    sessions: 1,
    runs: 1,
  });
  tf.dispose([x, y]);
  expect(tensors.memory()).toMatchObject({ tensors: held, entries: 0 });
  expect(tensors.memory().rss).toBeGreaterThan(2e7);
});

test('initial values come from the seeded stream, whatever the backend', async () => {
  const rng = random(5, 'initial values');
  const expected = [normal(rng), normal(rng)];
  for (const backend of ['cpu', 'onnx'] as const) {
    await tensors?.close();
    tensors = await openTensors({ backend, seed: 5 });
    expect([normal(tensors.random), normal(tensors.random)]).toEqual(expected);
  }
});

describe('what is not there is said in one line', () => {
  const said = async (settings: object, more: Parameters<typeof child>[2]): Promise<string> =>
    (await child('open-child.ts', [JSON.stringify(settings)], more)).out;

  test('no onnxruntime-node: wasm runs, and the line says why', async () => {
    expect(await said({ threads: 2 }, { node: without('onnxruntime-node') })).toMatch(
      /^onnx-web \| onnx-web: onnxruntime-web .*, 2 threads; .*; no onnx: the package onnxruntime-node is not installed \(.*ONNXRUNTIME_NODE_INSTALL=skip.*\)$/,
    );
  });

  test('neither runtime: plain TensorFlow.js', async () => {
    const out = await said({}, { node: without('onnxruntime-node', 'onnxruntime-web') });
    expect(out).toMatch(/^cpu \| cpu: TensorFlow.js 4.22.0, plain JavaScript; /);
    expect(out).toMatch(/no onnx-web: the package onnxruntime-web is not installed$/);
  });

  test('asked for by name: refused, not replaced by another', async () => {
    expect(await said({ backend: 'onnx' }, { node: without('onnxruntime-node') })).toBe(
      'backend onnx: is not there: the package onnxruntime-node is not installed (npm leaves it out where its installer cannot download; with ONNXRUNTIME_NODE_INSTALL=skip set, it stays). "turnwise devices" lists what is.',
    );
  });

  test('threads of wasm under --input-type: refused, where they would end the process', async () => {
    const door = resolve(root, 'src/tensor/open-tensors.ts');
    const code = `const { openTensors } = await import(${JSON.stringify(door)});
      await openTensors({ backend: 'onnx-web', threads: 2 }).catch((error) => console.log(error.message));
      console.log((await openTensors({ backend: 'onnx-web', threads: 1 })).label);`;
    const args = ['--import', 'tsx', '--input-type=module', '-e', code];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    expect(stdout).toMatch(
      /^backend onnx-web: is not there: its threads do not start under --input-type: .*\nonnxruntime-web .*, wasm, 1 thread\n$/,
    );
  });

  test('a driver that ends the process ends another one', async () => {
    // What a driver may do, done by a module that every new process loads first.
    const end = encodeURIComponent(`process.kill(process.pid, 'SIGKILL');`);
    vi.stubEnv('NODE_OPTIONS', `--import data:text/javascript,${end}`);
    await expect(openTensors({ backend: 'onnx-webgpu' })).rejects.toThrow(
      'is not there: no session on webgpu: the process that tried it ended by SIGKILL. "turnwise devices"',
    );
  });

  test('no driver that Vulkan could load: one line, and the process goes on', async () => {
    // A list of drivers that is not there: with a Vulkan loader no adapter, without one no loader.
    const env = { VK_DRIVER_FILES: '/nowhere.json', VK_ICD_FILENAMES: '/nowhere.json' };
    expect(await said({ backend: 'onnx-webgpu' }, { env })).toMatch(
      /^backend onnx-webgpu: is not there: no (adapter|Vulkan loader): [^\n]*\. "turnwise devices" lists what is\.$/,
    );
  });
});

test.each(['onnx', 'onnx-web'])('same seed, same bytes, across processes: %s', async (backend) => {
  const trained = async (seed: string): Promise<{ sha256: string; losses: number[] }> =>
    JSON.parse((await child('train-child.ts', [backend, '2', seed])).out);
  const [first, again, other] = await Promise.all([trained('7'), trained('7'), trained('8')]);
  expect(again).toEqual(first);
  expect(first.losses[9]).toBeLessThan(first.losses[0]!);
  expect(other.sha256).not.toBe(first.sha256);
});
