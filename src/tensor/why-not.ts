import { TurnwiseError } from '../schema/error.ts';

const LENGTH = 200;

/** What to do about a package that is not there. */
const HOW: Readonly<Record<string, string>> = {
  'onnxruntime-node':
    ' (npm leaves it out where its installer cannot download; with ONNXRUNTIME_NODE_INSTALL=skip set, it stays)',
  '@tensorflow/tfjs-node-gpu': ' (README says how it is assembled over a TensorFlow that is there)',
};

/** Why a package does not load, in one line. */
export function whyNotLoaded(name: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  // A package that is there and misses a part of its own names that part, or a folder of its own.
  if (missing && new RegExp(`^Cannot find (?:package|module) '${name}'`).test(message))
    return `the package ${name} is not installed${HOW[name] ?? ''}`;
  return `${name} does not load: ${oneLine(error)}`;
}

/** Why a provider of ONNX Runtime has no session, in one line. */
export function whyNoSession(provider: string, error: unknown, printed = ''): string {
  const message = error instanceof Error ? error.message : String(error);
  const loader = /Couldn't load Vulkan: (\S+):/.exec(printed)?.[1];
  if (provider === 'webgpu' && loader !== undefined)
    return `no Vulkan loader: ${loader} is not there (on Debian: the package libvulkan1)`;
  if (provider === 'webgpu' && /No supported adapters/.test(message))
    return 'no adapter: there is no GPU driver that WebGPU accepts';
  if (provider === 'cuda' && /libonnxruntime_providers_\w+\.so/.test(`${message}${printed}`))
    return 'the CUDA libraries of onnxruntime-node are not there: its installer downloads them';
  return `no session on ${provider}: ${oneLine(error)}`;
}

/** The first line of an error, without the source file that ONNX Runtime puts before it. */
export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.trim().split('\n')[0]!;
  const said = error instanceof TurnwiseError ? line : line.replace(/^.* was false\. /, '');
  return said.length <= LENGTH ? said : `${said.slice(0, LENGTH - 1)}…`;
}
