import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Device, Devices } from '../schema/devices.ts';
import { BACKENDS, type BackendName, backendName, DEFAULT_ORDER, VARIABLE } from './backends.ts';

const PATIENCE_MS = 180_000;

export interface DevicesSettings {
  readonly threads?: number | undefined;
  /** Called before each backend is looked at. */
  readonly onBackend?: ((name: BackendName) => void) | undefined;
}

/** What is there, why the others are not, and how fast each is; one after the other, each in a process of its own. */
export async function devices(settings: DevicesSettings = {}): Promise<Devices> {
  const { threads = availableParallelism(), onBackend } = settings;
  const variable = process.env[VARIABLE] || undefined;
  const asked = variable === undefined ? undefined : backendName(variable, VARIABLE);
  const found: Device[] = [];
  for (const backend of BACKENDS) {
    onBackend?.(backend);
    found.push(await measure(backend, threads));
  }
  const running = new Set(found.filter((device) => device.runs).map((device) => device.backend));
  const taken = asked ?? DEFAULT_ORDER.find((name) => running.has(name));
  const missing = taken === undefined || !running.has(taken);
  const why = asked
    ? `asked for by ${VARIABLE}${missing ? `: ${asked}, which is not there` : ''}`
    : `the first that runs here of ${DEFAULT_ORDER.join(', ')}; ${VARIABLE} names another`;
  return { taken: missing ? null : taken, why, threads, devices: found };
}

function measure(backend: BackendName, threads: number): Promise<Device> {
  const file = new URL(`./measure-device${extname(import.meta.url)}`, import.meta.url);
  // Built it is JavaScript; from source, as in the tests, it needs the loader that reads TypeScript.
  const loader = extname(import.meta.url) === '.js' ? [] : ['--import', import.meta.resolve('tsx')];
  const args = [...loader, fileURLToPath(file), backend, String(threads)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      resolve(answerOf(stdout) ?? notMeasured(backend, error, stderr));
    });
  });
}

function answerOf(stdout: string): Device | null {
  try {
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  } catch {
    return null;
  }
}

/** A process that gave no answer: a driver has ended it, or it was too slow. */
function notMeasured(
  backend: BackendName,
  error: (Error & { signal?: string | null; killed?: boolean }) | null,
  stderr: string,
): Device {
  const said = stderr.split('\n').find((line) => /^\w*Error/.test(line)) ?? '';
  const why = error?.killed
    ? `no answer after ${PATIENCE_MS / 1000} s`
    : `the process that measured it ended${error?.signal ? ` by ${error.signal}` : ''}${said && `: ${said}`}`;
  return {
    backend,
    runs: false,
    label: null,
    whyNot: why.slice(0, 200),
    productSeconds: null,
    productGflops: null,
    stepSeconds: null,
    peakMB: null,
  };
}
