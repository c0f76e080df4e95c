import { type BenchResult, table } from './result.ts';

/** Benchmarks by name; each is loaded only when it is asked for. */
const benches: Readonly<Record<string, () => Promise<{ bench(): Promise<BenchResult> }>>> = {
  ingest: () => import('./ingest.ts'),
};

const [name, ...flags] = process.argv.slice(2);
const load = name === undefined ? undefined : benches[name];
if (!load) {
  process.stderr.write(
    `usage: npm run bench NAME [-- --json]; NAME is one of ${Object.keys(benches).join(', ')}\n`,
  );
  process.exit(2);
}
const result = await (await load()).bench();
process.stdout.write(flags.includes('--json') ? `${JSON.stringify(result, null, 2)}\n` : table(result));
