/* The tests that tfjs-core ships, on the onnx backend: some here, all of them with TURNWISE_TFJS_SUITE=1. */
import { beforeAll, describe, expect, test } from 'vitest';
import { bundle, testFiles } from './tfjs-suite/bundle.ts';
import type { Spec } from './tfjs-suite/in-bundle.ts';
import { FAILS, SYNC_READS } from './tfjs-suite/known.ts';
import { runSuite } from './tfjs-suite/main.ts';
import { leftOver, outcomeOf, problems, summary, testOf } from './tfjs-suite/outcome.ts';

const WHOLE = process.env.TURNWISE_TFJS_SUITE === '1';

/** One file or more of each family of kernels, and the engine, the tape and the optimisers above them. */
const QUICK = [
  'debug_mode',
  'gradients',
  'ops/arg_max',
  'ops/arithmetic',
  'ops/batchnorm',
  'ops/binary_ops',
  'ops/concat',
  'ops/cumprod',
  'ops/cumsum',
  'ops/dense_bincount',
  'ops/einsum',
  'ops/exp_test',
  'ops/expm1',
  'ops/fused/fused_mat_mul',
  'ops/gather',
  'ops/log_softmax',
  'ops/losses/softmax_cross_entropy',
  'ops/mat_mul',
  'ops/max_test',
  'ops/mirror_pad',
  'ops/one_hot',
  'ops/pad',
  'ops/range',
  'ops/reverse',
  'ops/scatter_nd',
  'ops/slice_test',
  'ops/sparse_to_dense',
  'ops/stack',
  'ops/strided_slice',
  'ops/sum',
  'ops/tan_test',
  'ops/tile',
  'ops/topk',
  'ops/where',
  'optimizers/adam_',
];

describe(WHOLE ? 'every test of tfjs-core' : 'some tests of tfjs-core', () => {
  let cpu: Spec[];
  let onnx: Spec[];
  beforeAll(async () => {
    const files = testFiles().filter((file) => WHOLE || QUICK.some((part) => file.startsWith(part)));
    const script = await bundle(files, WHOLE ? 'test-whole' : 'test-quick');
    cpu = await runSuite(script, 'cpu');
    onnx = await runSuite(script, 'onnx');
  });

  test('every one of them passes on the reference backend, so that a failure is ours', () => {
    expect(problems(cpu, 'cpu')).toEqual([]);
    expect(summary(cpu, 'cpu').counts.passed).toBeGreaterThan(WHOLE ? 4000 : 800);
  });

  test('each passes on onnx, or is known not to and why', () => {
    expect([...problems(onnx, 'onnx'), ...(WHOLE ? leftOver(onnx, cpu) : [])]).toEqual([]);
  });

  test('the same tests are counted on both, each once', () => {
    const names = (specs: readonly Spec[]) =>
      specs.filter(({ file }) => file !== 'engine_test.js').map(testOf);
    expect(names(onnx)).toEqual(names(cpu));
    const { counts, files } = summary(onnx, 'onnx');
    expect(Object.values(counts).reduce((a, b) => a + b)).toBe(onnx.length);
    expect(files.reduce((n, file) => n + file.passed + file.refused + file.failed, 0)).toBe(
      counts.passed + counts.refused + counts.failed,
    );
  });
});

describe('how a run is judged', () => {
  const spec = (over: Partial<Spec>): Spec => ({
    file: 'ops/add_test.js',
    name: 'add A + B',
    status: 'passed',
    refused: [],
    messages: [],
    ...over,
  });

  test('a failure that is not known is a problem', () => {
    const failed = spec({ status: 'failed', messages: ['Arrays differ'] });
    expect(problems([failed], 'onnx')).toEqual(['fails: ops/add_test.js: add A + B']);
  });

  test('a known synchronous read that works is a problem; rounding may fall either way', () => {
    const known = Object.keys(SYNC_READS);
    const specs = known.map((test) => {
      const [file, name] = [test.slice(0, test.indexOf(': ')), test.slice(test.indexOf(': ') + 2)];
      return spec({ file, name });
    });
    expect(problems(specs, 'onnx')).toHaveLength(known.length);
    for (const test of Object.keys(FAILS.onnx!)) {
      const [file, name] = [test.slice(0, test.indexOf(': ')), test.slice(test.indexOf(': ') + 2)];
      expect(problems([spec({ file, name, status: 'failed', messages: ['Arrays differ'] })], 'onnx')).toEqual(
        [],
      );
      expect(problems([spec({ file, name })], 'onnx')).toEqual([]);
    }
    expect(problems([spec({})], 'onnx')).toEqual([]); // of files that did not run nothing is said
  });

  test('a refusal is no pass even where the test was content with an error', () => {
    const refused = spec({ refused: ['kernel Conv2D'] });
    expect(outcomeOf(refused, 'onnx')).toBe('refused');
    expect(problems([refused], 'onnx')).toEqual([]);
    expect(problems([spec({ refused: ['kernel Add'] })], 'onnx')).toHaveLength(1);
  });

  test('a failure after a refusal is a failure unless it was for the refusal', () => {
    const of = (message: string) =>
      outcomeOf(spec({ status: 'failed', refused: ['type string'], messages: [message] }), 'onnx');
    expect(of('write on the onnx backend: no such type, got string')).toBe('refused');
    expect(of('Arrays differ: actual[0] = 1, expected[0] = 2')).toBe('failed');
  });
});
