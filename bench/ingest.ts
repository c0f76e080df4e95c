import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from './built.ts';
import { writeLog } from './ingest-log.ts';
import { type BenchResult, type BenchRow, machine, median } from './result.ts';

/** Megabytes of the small log; the large one is twice that. TURNWISE_BENCH_MB overrides. */
const MB = Number(process.env.TURNWISE_BENCH_MB ?? 500);
const RUNS = Number(process.env.TURNWISE_BENCH_RUNS ?? 3);

interface Run {
  readonly seconds: number;
  readonly peakMB: number;
  readonly episodes: number;
}

/**
 * Token-level canonical JSONL into a fresh store: Turnwise (checks every record, three tables) beside
 * DuckDB's own read_json into one table. Runs alternate; the file is in the page cache for both.
 */
export async function bench(): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-bench-'));
  try {
    const dist = built(folder);
    const rows: BenchRow[] = [];
    let input = '';
    for (const scale of [1, 2]) {
      const log = join(folder, `log-${scale}.jsonl`);
      const { bytes, tokens } = writeLog(log, scale * MB);
      input ||= `canonical JSONL, ${(bytes / 1e6).toFixed(0)} MB, ${(tokens / 1e6).toFixed(1)} M tokens; then twice that`;
      const ours: Run[] = [];
      const peer: Run[] = [];
      for (let k = 0; k < RUNS; k++) {
        ours.push(measured('turnwise', dist, log, join(folder, 'turnwise.duckdb')));
        peer.push(measured('duckdb', '-', log, join(folder, 'peer.duckdb')));
        if (ours.at(-1)!.episodes !== peer.at(-1)!.episodes)
          throw new Error('the two sides read different logs');
      }
      rows.push(row(`ingest ${(bytes / 1e6).toFixed(0)} MB`, ours, peer));
      const speed = (seconds: number) => `${(bytes / 1e6 / seconds).toFixed(0)} MB/s`;
      process.stderr.write(
        `${rows.at(-1)!.what}: ${speed(rows.at(-1)!.seconds)}, duckdb ${speed(rows.at(-1)!.peerSeconds)}\n`,
      );
      rmSync(log);
    }
    const exponent = Math.log2(rows[1]!.seconds / rows[0]!.seconds);
    return { name: 'ingest', machine: machine(), input, rows, exponent };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(what: string, ours: readonly Run[], peer: readonly Run[]): BenchRow {
  const seconds = median(ours.map((r) => r.seconds));
  const peerSeconds = median(peer.map((r) => r.seconds));
  return {
    what,
    backend: 'cpu',
    seconds,
    peakMB: Math.max(...ours.map((r) => r.peakMB)),
    peer: 'duckdb',
    peerSeconds,
    peerPeakMB: Math.max(...peer.map((r) => r.peakMB)),
    ratio: peerSeconds / seconds,
  };
}

function measured(side: 'turnwise' | 'duckdb', dist: string, log: string, store: string): Run {
  const child = join(import.meta.dirname, 'ingest-child.ts');
  const out = execFileSync(process.execPath, ['--import', 'tsx', child, side, dist, log, store], {
    encoding: 'utf8',
  });
  for (const suffix of ['', '.wal', '.tmp']) rmSync(store + suffix, { recursive: true, force: true });
  return JSON.parse(out) as Run;
}
