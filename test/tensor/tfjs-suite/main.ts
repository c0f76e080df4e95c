/*
 * Runs the tests that tfjs-core ships against a backend, beside tfjs's own cpu backend.
 *
 *   npx tsx test/tensor/tfjs-suite/main.ts [--backend onnx|onnx-web|cpu] [--filter NAME,NAME] [--files] [--json]
 *
 * Without --backend: cpu and onnx. Exits 1 when something fails, is refused or passes that the table of known gaps
 * (known.ts) has otherwise.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { bundle, testFiles } from './bundle.ts';
import type { Spec } from './in-bundle.ts';
import { leftOver, OUTCOMES, type Outcome, problems, type Run, summary } from './outcome.ts';

const BACKENDS = ['cpu', 'onnx', 'onnx-web'];

/** Every test of these files on a backend, in a process of its own. */
export async function runSuite(script: string, backend: string): Promise<Spec[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tfjs-suite-'));
  try {
    const output = join(folder, 'specs.json');
    await promisify(execFile)(process.execPath, [script, backend, output], { maxBuffer: 2 ** 28 });
    return JSON.parse(await readFile(output, 'utf8'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const row = (name: string, of: Readonly<Record<Outcome, number>>): string =>
  name.padEnd(44) + OUTCOMES.map((outcome) => String(of[outcome]).padStart(16)).join('');

function table(run: Run, files: boolean): string {
  const lines = [`${''.padEnd(44)}${OUTCOMES.map((outcome) => outcome.padStart(16)).join('')}`];
  lines.push(row(run.backend, run.counts));
  if (files) for (const file of run.files) lines.push(row(`  ${file.file}`, file));
  const away = run.files.filter((file) => file['not applicable'] > 0);
  if (away.length > 0) lines.push(`not applicable: ${away.map(({ file }) => file).join(', ')}`);
  const refused = Object.entries(run.refused).sort((a, b) => b[1] - a[1]);
  if (refused.length > 0) lines.push(`refused: ${refused.map(([name, n]) => `${name} ${n}`).join(', ')}`);
  for (const { test, why } of run.failures) lines.push(`failed: ${test}\n  ${why}`);
  return lines.join('\n');
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      backend: { type: 'string', multiple: true },
      filter: { type: 'string' },
      files: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const parts = values.filter?.split(',') ?? [''];
  const files = testFiles().filter((file) => parts.some((part) => file.includes(part)));
  if (files.length === 0)
    throw new Error(`--filter: no test file of tfjs-core has it in its path, got ${values.filter}`);
  const strange = values.backend?.find((name) => !BACKENDS.includes(name));
  if (strange !== undefined)
    throw new Error(`--backend: no such backend, got ${strange}, expected ${BACKENDS.join(', ')}`);
  const script = await bundle(files, values.filter?.replace(/\W+/g, '-') ?? 'all');
  const runs: Run[] = [];
  const wrong: string[] = [];
  let reference: Spec[] | null = null;
  for (const backend of values.backend ?? ['cpu', 'onnx']) {
    const specs = await runSuite(script, backend);
    runs.push(summary(specs, backend));
    wrong.push(...problems(specs, backend).map((line) => `${backend}: ${line}`));
    if (backend === 'cpu') reference = specs;
    else if (values.filter === undefined)
      wrong.push(...leftOver(specs, reference).map((line) => `${backend}: ${line}`));
    if (!values.json) console.log(`${table(runs.at(-1)!, values.files)}\n`);
  }
  if (values.json) console.log(JSON.stringify({ runs, problems: wrong }));
  else for (const line of wrong) console.log(line);
  return wrong.length === 0 ? 0 : 1;
}

if (process.argv[1]?.endsWith('main.ts')) process.exitCode = await main();
