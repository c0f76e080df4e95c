import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { failure } from '../../schema/error.ts';
import { readPlace } from '../file-place.ts';
import type { External, Numbers, Runtime, Session } from './runtime.ts';

/** Whatever is less is thrown as an error, and need not be printed too. */
const FATAL = 4;

export interface RuntimeSettings {
  /** Of one operation; as many as there are cores unless told otherwise. */
  readonly threads?: number | undefined;
}

/** The part of onnxruntime-common that both packages share. */
interface Ort {
  readonly env: { readonly wasm: { numThreads?: number }; logLevel?: string };
  readonly Tensor: new (type: string, data: Numbers, dims: readonly number[]) => OrtTensor;
  readonly InferenceSession: {
    create(model: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<OrtSession>;
  };
}
interface OrtTensor {
  readonly data: Numbers;
}
interface OrtSession {
  run(
    feeds: Readonly<Record<string, OrtTensor>>,
    options: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, OrtTensor>>>;
  release(): Promise<void>;
}

/** onnxruntime-node, an optional dependency. @throws where it does not load, with the reason */
export async function nativeRuntime(
  provider: 'cpu' | 'webgpu' | 'cuda',
  { threads = availableParallelism() }: RuntimeSettings = {},
): Promise<Runtime> {
  const ort = await moduleOf('onnxruntime-node');
  const options = {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: FATAL,
  };
  const version = versionOf('onnxruntime-node');
  const label = `onnxruntime-node ${version}, ${provider}${provider === 'cpu' ? `, ${counted(threads)}` : ''}`;
  return {
    label,
    provider,
    compile: (model, externals = []) => compile(ort, model, { ...options, ...filesOf(externals) }),
  };
}

/** Where the files of constants are looked for: they are mapped from there, not read. */
function filesOf(externals: readonly External[]): object {
  const roots = [...new Set(externals.map(({ place }) => parse(place.path).root))];
  if (roots.length > 1)
    throw failure({
      subject: 'frozen tensors',
      wrong: 'lie in files of several drives',
      got: roots.join(', '),
      fix: 'Keep the files on one.',
    });
  return roots.length === 0
    ? {}
    : { extra: { session: { model_external_initializers_file_folder_path: roots[0] } } };
}

/** onnxruntime-web: wasm, no install script, so something always runs. */
export async function wasmRuntime({
  threads = availableParallelism(),
}: RuntimeSettings = {}): Promise<Runtime> {
  const ort = await moduleOf('onnxruntime-web');
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = 'fatal';
  const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: FATAL };
  const label = `onnxruntime-web ${versionOf('onnxruntime-web')}, wasm, ${counted(threads)}`;
  return {
    label,
    provider: 'wasm',
    async compile(model, externals = []) {
      const read = externals.map(async ({ name, place }) => ({ path: name, data: await readPlace(place) }));
      const externalData = await Promise.all(read);
      return compile(ort, model, externalData.length === 0 ? options : { ...options, externalData });
    },
  };
}

const counted = (threads: number): string => `${threads} thread${threads === 1 ? '' : 's'}`;

async function compile(
  ort: Ort,
  model: Uint8Array,
  options: Readonly<Record<string, unknown>>,
): Promise<Session> {
  const session = await ort.InferenceSession.create(model, options);
  return {
    async run(feeds) {
      const given: Record<string, OrtTensor> = {};
      for (const [name, { dtype, value, shape }] of Object.entries(feeds))
        given[name] = new ort.Tensor(dtype, value, shape);
      const found = await session.run(given, { logSeverityLevel: FATAL });
      return Object.fromEntries(Object.entries(found).map(([name, tensor]) => [name, tensor.data]));
    },
    release: () => session.release(),
  };
}

async function moduleOf(name: string): Promise<Ort> {
  const found = (await import(name)) as Ort & { readonly default?: Ort };
  return found.InferenceSession === undefined ? found.default! : found;
}

/** Not every package exports its package.json: looked for upwards from its entry. */
function versionOf(name: string): string {
  for (let at = dirname(createRequire(import.meta.url).resolve(name)); at !== dirname(at); at = dirname(at)) {
    const file = join(at, 'package.json');
    const found = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
    if (found.name === name) return found.version;
  }
  return 'of an unknown version';
}
