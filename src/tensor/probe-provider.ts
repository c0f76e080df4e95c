import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { identityModel } from './identity.ts';
import { whyNoSession, whyNotLoaded } from './why-not.ts';

const PATIENCE_MS = 60_000;

/** Written for a process of its own, in plain JavaScript: it runs from source and built alike. */
const SCRIPT = `
import { writeSync } from 'node:fs';
const [url, provider, model] = process.argv.slice(1);
const say = (answer) => { writeSync(1, '\\n' + JSON.stringify(answer)); process.exit(0); };
try {
  const ort = (await import(url)).default;
  const options = { executionProviders: [provider], logSeverityLevel: 3 };
  const session = await ort.InferenceSession.create(Buffer.from(model, 'base64'), options);
  const { b } = await session.run({ a: new ort.Tensor('float32', [7], [1]) });
  say(b.data[0] === 7 ? { runs: true } : { error: 'returned ' + b.data[0] + ' for 7' });
} catch (error) {
  say({ error: String(error?.message ?? error) });
}`;

/**
 * Whether onnxruntime-node computes on a provider: null, or why not, in one line. Drivers print to stderr and may
 * end the process, so that another process tries.
 */
export async function whyNoProvider(provider: 'webgpu' | 'cuda'): Promise<string | null> {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve('onnxruntime-node');
  } catch (error) {
    return whyNotLoaded('onnxruntime-node', error);
  }
  const model = Buffer.from(identityModel()).toString('base64');
  const args = ['--input-type=module', '-e', SCRIPT, pathToFileURL(entry).href, provider, model];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      const answer = answerOf(stdout);
      if (answer?.runs) resolve(null);
      else if (answer) resolve(whyNoSession(provider, answer.error, stderr));
      else resolve(whyNoSession(provider, ended(error), stderr));
    });
  });
}

function answerOf(stdout: string): { readonly runs?: true; readonly error?: string } | null {
  try {
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  } catch {
    return null;
  }
}

function ended(error: (Error & { signal?: string | null; killed?: boolean; code?: unknown }) | null): string {
  if (error?.killed) return `the process that tried it had no answer after ${PATIENCE_MS / 1000} s`;
  return `the process that tried it ended by ${error?.signal ?? `exit ${error?.code ?? 0}`}`;
}
