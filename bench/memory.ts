import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { built } from './built.ts';
import { KINDS, type Kind, writeMemoryLog } from './memory-log.ts';
import { machine, type Study } from './result.ts';

interface Measured {
  readonly kind: Kind;
  readonly logMB: number;
  readonly command: string;
  readonly exit: number;
  readonly seconds: number;
  readonly peakMB: number;
}

/** Takes the peak of the whole process as it ends. */
const PEAK = `import { isMainThread } from 'node:worker_threads'; import { writeFileSync } from 'node:fs';
  if (isMainThread) process.on('exit', () =>
    writeFileSync(process.env.TURNWISE_PEAK, String(process.resourceUsage().maxRSS)));`;

/**
 * Peak memory and time of every command that reads or writes a store, each in a process of its own, on logs of `--gb`
 * (default 2) 10^9 bytes: short turns, long segments, long texts. `--kind NAME` measures one of them.
 */
export async function bench(flags: readonly string[]): Promise<Study> {
  const { values } = parseArgs({
    args: [...flags],
    options: { gb: { type: 'string', default: '2' }, kind: { type: 'string', multiple: true } },
  });
  const kinds = (values.kind ?? Object.keys(KINDS)) as Kind[];
  for (const kind of kinds)
    if (!Object.hasOwn(KINDS, kind))
      throw new Error(`--kind "${kind}" is not known, expected one of ${Object.keys(KINDS).join('; ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-bench-'));
  const data: Measured[] = [];
  try {
    const main = join(built(folder), 'cli/main.js');
    for (const kind of kinds) data.push(...measureKind(folder, main, kind, Number(values.gb)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { data, text: tableOf(data) };
}

function measureKind(folder: string, main: string, kind: Kind, gb: number): Measured[] {
  const at = (name: string) => join(folder, name);
  const log = at('log.jsonl');
  const store = at('runs.duckdb');
  const { bytes } = writeMemoryLog(log, kind, gb);
  writeFileSync(
    at('target.json'),
    JSON.stringify({ policy: 'target', trained_on: 'none', rules: [{ probabilities: { a: 0.6, b: 0.4 } }] }),
  );
  const rows: Measured[] = [];
  const measure = (command: string, ...args: string[]) => {
    const started = performance.now();
    const peak = at('peak');
    const url = `data:text/javascript,${encodeURIComponent(PEAK)}`;
    const run = spawnSync(process.execPath, ['--import', url, main, ...args], {
      env: { ...process.env, TURNWISE_PEAK: peak },
      maxBuffer: 1 << 30,
      encoding: 'utf8',
    });
    const seconds = (performance.now() - started) / 1000;
    const peakMB = Number(readFileSync(peak, 'utf8')) / 1024;
    rows.push({ kind, logMB: bytes / 1e6, command, exit: run.status ?? -1, seconds, peakMB });
    process.stderr.write(`${kind}, ${command}: ${seconds.toFixed(1)} s, ${peakMB.toFixed(0)} MB\n`);
    // 3: the logs cannot answer, which is an answer.
    if (run.status !== 0 && run.status !== 3) process.stderr.write(run.stderr.slice(-500));
  };
  measure('ingest', 'ingest', log, '--store', store);
  rmSync(log);
  process.stderr.write(`${kind}: a store of ${(statSync(store).size / 1e6).toFixed(0)} MB\n`);
  for (const command of ['check', 'describe', 'credit']) measure(command, command, '--store', store);
  measure('compare', 'compare', '--store', store, '--policies', 'A,B');
  for (const command of ['audit', 'evaluate'])
    measure(command, command, '--store', store, '--target', at('target.json'));
  measure('report', 'report', '--store', store, '--out', at('report.html'), '--force');
  for (const format of ['parquet', 'arrow']) {
    const out = at(format);
    measure(`export ${format}`, 'export', '--store', store, '--to', format, '--out', out);
    measure(`import ${format}`, 'import', out, '--store', at('copy.duckdb'));
    for (const path of [out, at('copy.duckdb')]) rmSync(path, { recursive: true, force: true });
  }
  rmSync(store);
  return rows;
}

function tableOf(data: readonly Measured[]): string {
  const kinds = [...new Set(data.map((row) => row.kind))];
  const lines = [
    machine(),
    'seconds and peak resident memory in MB of each command, in a process of its own',
    '',
  ];
  const width = 17;
  lines.push([' '.repeat(width), ...kinds.map((kind) => kind.padStart(24))].join(''));
  const sizes = kinds.map((kind) => `${data.find((row) => row.kind === kind)!.logMB.toFixed(0)} MB`);
  lines.push(['log'.padEnd(width), ...sizes.map((size) => size.padStart(24))].join(''));
  for (const command of new Set(data.map((row) => row.command))) {
    const cells = kinds.map((kind) => {
      const row = data.find((r) => r.kind === kind && r.command === command)!;
      const failed = row.exit === 0 || row.exit === 3 ? '' : ` (exit ${row.exit})`;
      return `${row.seconds.toFixed(1)} s ${row.peakMB.toFixed(0).padStart(6)} MB${failed}`;
    });
    lines.push([command.padEnd(width), ...cells.map((cell) => cell.padStart(24))].join(''));
  }
  return `${lines.join('\n')}\n`;
}
