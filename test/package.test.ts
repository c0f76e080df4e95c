import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');

test('the lock file names no registry host', () => {
  expect(readFileSync(resolve(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"/);
});

test('no tracked file names a path of one machine', () => {
  const text = tracked.filter(
    (f) => /\.(ts|json|md|ipynb|yml|sh|py)$|^\.ci\/run$/.test(f) && f !== 'package-lock.json',
  );
  const wrong = text.filter((f) =>
    /(^|[^a-z.\w])\/(work|home|root|Users)\//m.test(readFileSync(resolve(root, f), 'utf8')),
  );
  expect(wrong.filter((f) => f !== 'test/package.test.ts')).toEqual([]);
});

test('the package ships what it needs to run and nothing else', () => {
  const [pack] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
  );
  const files = (pack.files as { path: string }[]).map((f) => f.path);
  expect(files).toContain('dist/cli/main.js');
  expect(files).toContain('dist/index.d.ts');
  expect(files.filter((f) => !/^(dist|datasets)\/|^(README\.md|LICENSE|package\.json)$/.test(f))).toEqual([]);
});

test('every turnwise command that README shows exists', () => {
  const shown = [
    ...readFileSync(resolve(root, 'README.md'), 'utf8').matchAll(/(?:npx|`)\s?turnwise ([a-z]+)/g),
  ].map((m) => m[1]!);
  const help = execFileSync(process.execPath, ['dist/cli/main.js', '--help'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const name of new Set(shown)) expect(help).toMatch(new RegExp(`^  ${name} `, 'm'));
});
