import { cpus, totalmem } from 'node:os';

/** One line of a benchmark: what was measured beside a peer that did the same work in the same run. */
export interface BenchRow {
  readonly what: string;
  readonly backend: 'cpu' | 'onnx' | 'onnx-webgpu' | 'onnx-web' | 'node-gpu';
  readonly seconds: number;
  readonly peakMB: number;
  readonly peer:
    | 'duckdb'
    | 'python'
    | 'numpy'
    | 'sklearn'
    | 'torch'
    | 'd3rlpy'
    | 'obp'
    | 'scope-rl'
    | 'tfjs-wasm';
  readonly peerSeconds: number;
  readonly peerPeakMB: number;
  /** peerSeconds / seconds: above 1 is faster than the peer. */
  readonly ratio: number;
}

export interface BenchResult {
  readonly name: string;
  readonly machine: string;
  readonly input: string;
  readonly rows: readonly BenchRow[];
  /** log(seconds) against log(size of the input), from the smallest to the largest. */
  readonly exponent: number | null;
}

/** What is measured against the truth rather than beside a peer. */
export interface Study {
  readonly data: unknown;
  readonly text: string;
}

export function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GB, Node ${process.version}`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

const digits = (seconds: number): string => (seconds < 1 ? seconds.toPrecision(3) : seconds.toFixed(2));

export function table({ name, machine, input, rows, exponent }: BenchResult): string {
  const head = ['what', 'backend', 'seconds', 'peak MB', 'peer', 'seconds', 'peak MB', 'ratio'];
  const cells = rows.map((r) => [
    r.what,
    r.backend,
    digits(r.seconds),
    r.peakMB.toFixed(0),
    r.peer,
    digits(r.peerSeconds),
    r.peerPeakMB.toFixed(0),
    r.ratio.toFixed(2),
  ]);
  const widths = head.map((h, k) => Math.max(h.length, ...cells.map((c) => c[k]!.length)));
  const line = (c: readonly string[]) =>
    c
      .map((text, k) => text.padEnd(widths[k]!))
      .join('  ')
      .trimEnd();
  const grows = exponent === null ? [] : [`time grows as size^${exponent.toFixed(2)}`];
  return [`${name}: ${input}`, machine, '', line(head), ...cells.map(line), ...grows, ''].join('\n');
}
