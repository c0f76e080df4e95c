import { type BenchResult, type Study, table } from './result.ts';

/** Benchmarks and studies by name; each is loaded only when it is asked for. */
const benches: Readonly<
  Record<string, () => Promise<{ bench(flags: readonly string[]): Promise<BenchResult | Study> }>>
> = {
  ingest: () => import('./ingest.ts'),
  memory: () => import('./memory.ts'),
  'tool-agent': () => import('./tool-agent.ts'),
  coverage: () => import('./coverage.ts'),
  value: () => import('./value.ts'),
  steps: () => import('./steps.ts'),
  tensor: () => import('./tensor.ts'),
  damage: () => import('./damage.ts'),
  mutations: () => import('./mutations.ts'),
  mislead: () => import('./mislead.ts'),
  'credit-null': () => import('./credit-null.ts'),
};

const [name, ...flags] = process.argv.slice(2);
const load = name === undefined ? undefined : benches[name];
if (!load) {
  process.stderr.write(
    `usage: npm run bench NAME [-- --json]; NAME is one of ${Object.keys(benches).join(', ')}\n`,
  );
  process.exit(2);
}
const json = flags.includes('--json');
const result = await (await load()).bench(flags.filter((flag) => flag !== '--json'));
if ('text' in result) process.stdout.write(json ? `${JSON.stringify(result.data, null, 2)}\n` : result.text);
else process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : table(result));
