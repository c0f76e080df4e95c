import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchResult, type BenchRow, machine, median } from './result.ts';

interface Run {
  readonly seconds: readonly number[];
  /** The loss before any step, or an entry of the product: the same work in every engine. Later losses drift apart. */
  readonly first: number;
  readonly peakMB: number;
  readonly version?: string;
}

const DECODERS = [128, 256, 512].flatMap((width) => [`decoder,${width},8,256`, `decoder,${width},2,1024`]);
const PLAIN = ['plain-decoder,128,8,256', 'plain-decoder,128,2,1024'];
const CASES = [...DECODERS, ...PLAIN, 'mlp,4096,256,512', 'gram32,200000,256', 'gram64,200000,256'];
/** Of two engines that did the same in float32. */
const TOLERANCE = 1e-4;
const cache = resolve(import.meta.dirname, '../.cache/torch/bin/python');

/**
 * One training step of a two-layer decoder and of an MLP, and Gram matrices, on every backend that runs here, beside
 * PyTorch and NumPy (`python -m venv .cache/torch` with torch and numpy) and, in the case `--slow`, TensorFlow.js on
 * its own wasm backend and in plain JavaScript. Runs take turns, each in a process of its own.
 */
export async function bench(flags: readonly string[]): Promise<BenchResult> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      cases: { type: 'string', default: CASES.join(';') },
      steps: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
      slow: { type: 'string', default: 'decoder,128,8,256' },
    },
  });
  const rows: BenchRow[] = [];
  const assembled = runs('node-gpu') ? ['node-gpu'] : [];
  for (const what of values.cases.split(';')) {
    const backends = what.startsWith('gram64') ? ['onnx'] : ['onnx', 'onnx-web', ...assembled];
    const own: Record<string, Run[]> = {};
    const peers: Run[] = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const backend of backends)
        own[backend] = [...(own[backend] ?? []), child(backend, what, values.steps)];
      const peer = python(what, values.steps);
      if (peer !== null) peers.push(peer);
    }
    for (const backend of backends) {
      const runs = own[backend]!;
      if (peers.length > 0)
        rows.push(row(what, backend, runs, peers, what.startsWith('gram') ? 'numpy' : 'torch'));
      report(`${what} ${backend}: ${(1000 * seconds(runs)).toFixed(1)} ms, first ${runs[0]!.first}`);
    }
    if (peers.length > 0)
      report(
        `${what} ${peers[0]!.version}: ${(1000 * seconds(peers)).toFixed(1)} ms, first ${peers[0]!.first}`,
      );
    if (what === values.slow && peers.length > 0) {
      const plain = [child('cpu', what, '1')];
      rows.push(row(what, 'cpu', plain, peers, 'torch'));
      report(`${what} cpu: ${(1000 * seconds(plain)).toFixed(0)} ms`);
    }
    if (what === values.slow) {
      const plain = [child('tfjs-wasm', what.replace(/^decoder/, 'plain-decoder'), '2')];
      rows.push(row(what, 'onnx', own.onnx!, plain, 'tfjs-wasm'));
    }
  }
  return {
    name: 'tensor',
    machine: machine(),
    input:
      'a training step; decoder: width, sequences, tokens (plain: TensorFlow.js alone); mlp: rows, inputs, hidden; gram: rows, columns',
    rows,
    exponent: null,
  };
}

/** Whether a backend is here, told by a step of it. */
function runs(backend: string): boolean {
  try {
    child(backend, 'mlp,8,4,4', '1');
    return true;
  } catch (error) {
    report(
      `${backend}: ${String((error as { stderr?: string }).stderr ?? error).match(/Error: .*/)?.[0] ?? 'not here'}`,
    );
    return false;
  }
}

const seconds = (runs: readonly Run[]): number => median(runs.flatMap((r) => r.seconds));

function child(backend: string, what: string, steps: string): Run {
  const file = join(import.meta.dirname, 'tensor-child.ts');
  const args = ['--import', 'tsx', file, backend, what, steps];
  return JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
  );
}

function python(what: string, steps: string): Run | null {
  if (!existsSync(cache)) return null;
  const args = [join(import.meta.dirname, 'tensor.py'), what, steps];
  return JSON.parse(execFileSync(cache, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }));
}

function row(
  what: string,
  backend: string,
  own: readonly Run[],
  peers: readonly Run[],
  peer: BenchRow['peer'],
): BenchRow {
  const [mine, theirs] = [own[0]!.first, peers[0]!.first];
  if (!(Math.abs(mine - theirs) <= TOLERANCE * Math.max(1, Math.abs(theirs))))
    throw new Error(
      `${what}, ${backend} against ${peer}: starts at ${mine} and ${theirs}: not the same work`,
    );
  return {
    what,
    backend: backend as BenchRow['backend'],
    seconds: seconds(own),
    peakMB: Math.max(...own.map((r) => r.peakMB)),
    peer,
    peerSeconds: seconds(peers),
    peerPeakMB: Math.max(...peers.map((r) => r.peakMB)),
    ratio: seconds(peers) / seconds(own),
  };
}

const report = (line: string) => process.stderr.write(`${line}\n`);
