import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

/** Order of reading = flow of data: a folder imports only from itself and from those above it. */
const ORDER = [
  'math',
  'json',
  'schema',
  'threads',
  'store',
  'ingest',
  'trajectories',
  'tensor',
  'regress',
  'policy',
  'weights',
  'inspect',
  'diagnostics',
  'value',
  'critic',
  'audit',
  'replay',
  'simulate',
  'report',
  'cli',
];

const src = resolve(import.meta.dirname, '../src');
const files = (dir: string): string[] =>
  readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    return statSync(path).isDirectory() ? files(path) : path.endsWith('.ts') ? [path] : [];
  });
const sources = files(src);
const imports = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((m) => m[1]!);
const folder = (path: string): string => relative(src, path).split('/')[0]!;

test('a folder imports only from itself and from the folders above it', () => {
  const wrong: string[] = [];
  for (const path of sources) {
    const at = ORDER.indexOf(folder(path));
    if (at < 0) {
      if (relative(src, path).includes('/')) wrong.push(`${relative(src, path)} is in no declared folder`);
      continue;
    }
    for (const target of imports(path).filter((p) => p.startsWith('.'))) {
      const to = ORDER.indexOf(folder(resolve(dirname(path), target)));
      if (to > at || to < 0) wrong.push(`${relative(src, path)} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('only the store imports DuckDB', () => {
  const wrong = sources.filter((p) => folder(p) !== 'store' && imports(p).some((i) => /duckdb/.test(i)));
  expect(wrong).toEqual([]);
});

test('no file holds more than 300 lines', () => {
  const long = sources
    .map((p) => [relative(src, p), readFileSync(p, 'utf8').split('\n').length] as const)
    .filter(([, n]) => n > 300);
  expect(long).toEqual([]);
});

test('index files only re-export', () => {
  const wrong = sources
    .filter((p) => p.endsWith('index.ts'))
    .filter((p) =>
      readFileSync(p, 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .split(';')
        .some((s) => s.trim() !== '' && !/^export\s/.test(s.trim())),
    );
  expect(wrong).toEqual([]);
});

test('every dependency is pinned exactly', () => {
  const pkg = JSON.parse(readFileSync(resolve(src, '../package.json'), 'utf8'));
  const all = { ...pkg.dependencies, ...pkg.devDependencies, ...pkg.optionalDependencies };
  const loose = Object.entries(all).filter(
    ([, v]) => !/^(npm:@[^@]+@)?\d+\.\d+\.\d+[-.\w]*$/.test(String(v)),
  );
  expect(loose).toEqual([]);
});
