import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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
  expect(
    files.filter((f) => !/^(dist|datasets|examples)\/|^(README\.md|LICENSE|package\.json)$/.test(f)),
  ).toEqual([]);
});

test('a build ships nothing of an earlier one', () => {
  const copy = mkdtempSync(join(tmpdir(), 'turnwise-build-'));
  try {
    for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src'])
      cpSync(resolve(root, name), join(copy, name), { recursive: true });
    symlinkSync(resolve(root, 'node_modules'), join(copy, 'node_modules'));
    mkdirSync(join(copy, 'dist/cli'), { recursive: true });
    for (const stale of ['dist/old.js', 'dist/cli/gone.js']) writeFileSync(join(copy, stale), '');
    execFileSync('npm', ['run', 'build', '--silent'], { cwd: copy, stdio: 'pipe' });
    const built = readdirSync(join(copy, 'dist'), { recursive: true, encoding: 'utf8' });
    expect(built).toContain(join('cli', 'main.js'));
    // npm makes the program executable when it installs, and never again: a build has to.
    if (process.platform !== 'win32')
      expect(statSync(join(copy, 'dist/cli/main.js')).mode & 0o111).toBe(0o111);
    const known = (name: string) =>
      existsSync(join(copy, 'src', name.replace(/(\.d)?\.[jt]s$/, '.ts'))) ||
      existsSync(join(copy, 'src', name));
    expect(built.filter((name) => !known(name))).toEqual([]);
  } finally {
    rmSync(copy, { recursive: true });
  }
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
