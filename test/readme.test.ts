import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../src/cli/commands.ts';
import * as turnwise from '../src/index.ts';
import { PolicyFile } from '../src/policy/policy-file.ts';
import { AuditConfig } from '../src/schema/audit-config.ts';
import { Episode } from '../src/schema/episode.ts';
import { Score } from '../src/schema/score.ts';
import { queryRows } from '../src/store/query.ts';
import { openStore } from '../src/store/store.ts';
import { TABLES } from '../src/store/tables.ts';

const root = resolve(import.meta.dirname, '..');
const readme = readFileSync(resolve(root, 'README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'turnwise-readme-'));
afterAll(() => rmSync(folder, { recursive: true }));
const blocks = (kind: string) =>
  [...readme.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((m) => m[1]!);

test('every JSON example is what it says: an episode, a policy file, a score', () => {
  const kinds = blocks('json').map((text) => {
    const value = JSON.parse(text);
    const schema = 'turns' in value ? Episode : 'rules' in value ? PolicyFile : Score;
    schema.parse(value);
    return schema;
  });
  expect(new Set(kinds)).toEqual(new Set([Episode, PolicyFile, Score]));
});

test('every name the TypeScript example imports is exported', () => {
  const [example] = blocks('ts');
  const names = /import \{([^}]*)\}/
    .exec(example!)![1]!
    .split(',')
    .map((name) => name.trim());
  expect(names.length).toBeGreaterThan(4);
  for (const name of names) expect(turnwise, name).toHaveProperty(name);
});

test('every function that README names in code exists', () => {
  const section = /Underneath lie functions over typed arrays: ([^.]*)\./.exec(readme)![1]!;
  for (const [, name] of section.matchAll(/`(\w+)`/g)) expect(turnwise, name!).toHaveProperty(name!);
});

test('the TypeScript example type-checks under strict, against the source', () => {
  writeFileSync(join(folder, 'example.mts'), blocks('ts')[0]!);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: resolve(root, 'tsconfig.json'),
      compilerOptions: {
        paths: { turnwise: [resolve(root, 'src/index.ts')] },
        typeRoots: [resolve(root, 'node_modules/@types')],
        noUnusedLocals: false,
      },
      files: ['example.mts'],
      include: [],
    }),
  );
  const tsc = resolve(root, 'node_modules/typescript/bin/tsc');
  const said = () => execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
  expect(() => said()).not.toThrow();
  // The compiler does look at it: without its question marks the example is wrong.
  writeFileSync(join(folder, 'example.mts'), blocks('ts')[0]!.replaceAll('?.', '.'));
  expect(() => said()).toThrow();
});

describe('every snippet runs as pasted, on the bundled data', () => {
  // A checkout of its own, so that nothing is written into this one.
  const checkout = join(folder, 'checkout');
  const turnwise = resolve(root, 'dist/cli/main.js');
  beforeAll(() => {
    mkdirSync(join(checkout, 'node_modules'), { recursive: true });
    symlinkSync(root, join(checkout, 'node_modules/turnwise'));
    for (const name of ['datasets', 'examples']) symlinkSync(resolve(root, name), join(checkout, name));
  });
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: checkout, encoding: 'utf8', stdio: 'pipe' });
  /** Words of a line of a shell, without its comment. */
  const words = (line: string) =>
    line
      .replace(/\s+#.*$/, '')
      .trim()
      .split(/\s+/);

  test('SQL, and the commands in their order', async () => {
    const store = await openStore(':memory:');
    for (const sql of blocks('sql')) {
      const here = sql.replaceAll("'examples/", `'${checkout}/examples/`).replace(/TO '/, `TO '${checkout}/`);
      await store.connection.run(here);
    }
    store.close();
    const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
    const own = lines.filter((line) => line.startsWith('npx turnwise ') && !line.includes('devices'));
    expect(own.length).toBeGreaterThan(10);
    for (const line of own) {
      const [, , ...args] = words(line);
      expect(() => run(process.execPath, [turnwise, ...args]), line).not.toThrow();
    }
    // What else a shell is told to do is installed or run by tests of its own.
    const others = lines.filter((line) => !line.startsWith('npx turnwise '));
    for (const line of others)
      expect(line).toMatch(/^(npm ci && npm run demo|npm cit|pip install|npm run node-gpu)/);
  });

  test('the table of turns becomes the episodes it holds', async () => {
    const store = await openStore(join(checkout, 'csv-runs.duckdb'));
    const rows = readFileSync(resolve(root, 'examples/runs.csv'), 'utf8').trimEnd().split('\n').slice(1);
    const runs = new Set(rows.map((row) => row.split(',')[0]));
    expect(
      await queryRows(
        store,
        'SELECT count(*)::INTEGER AS episodes, sum(n_turns)::INTEGER AS turns FROM episodes',
      ),
    ).toEqual([{ episodes: runs.size, turns: rows.length }]);
    store.close();
  });

  test('TypeScript', () => {
    expect(readme).toContain('`node example.mjs`');
    const [example, tensors] = blocks('ts');
    writeFileSync(join(checkout, 'example.mjs'), example!);
    const out = run(process.execPath, ['example.mjs']);
    expect(out).toMatch(/\n(supported|weak) WIS 0\.\d+ 0\.\d+\n/);
    writeFileSync(join(checkout, 'tensors.mjs'), tensors!);
    run(process.execPath, ['tensors.mjs']);
    expect(blocks('ts')).toHaveLength(2);
  });
});

/** Rows of the table whose first column is `code`, of the audit's reasons. */
const reasonRows = /\| code \| what it means \| threshold \|\n\|[-|]+\n((?:\|.*\n)+)/
  .exec(readme)![1]!
  .trim()
  .split('\n');

test('the table of reasons has every reason of the audit, and no other', () => {
  const audit = resolve(root, 'src/audit');
  const source = readdirSync(audit).map((name) => readFileSync(join(audit, name), 'utf8'));
  const codes = new Set<string>();
  const add = (text: string) => {
    for (const [, code] of text.matchAll(/'([a-z]+(?:-[a-z]+)+)'/g)) codes.add(code!);
  };
  for (const text of source) {
    for (const [call] of text.matchAll(
      /\b(?:refuse|weak|say)\(\s*(?:'[a-z-]+'|[^,'`]*\? '[a-z-]+' : '[a-z-]+')/g,
    ))
      add(call);
    for (const [code] of text.matchAll(/code: [^,]*,\s*verdict\b/g)) add(code);
    for (const [noticed] of text.matchAll(/NOTICED = \[[^\]]*\]/g)) add(noticed);
    for (const [taken] of text.matchAll(/code === '[a-z-]+'\) refuse\(/g)) add(taken);
  }
  expect(codes).toContain('few-events');
  const listed = reasonRows.flatMap((row) =>
    [...row.split('|')[1]!.matchAll(/`([a-z-]+)`/g)].map((m) => m[1]!),
  );
  expect([...listed].sort()).toEqual([...codes].sort());
});

test('… with thresholds by their names and their defaults', () => {
  const defaults = AuditConfig.parse({}) as Record<string, unknown>;
  const named = reasonRows.flatMap((row) =>
    [...row.matchAll(/`([a-z]+[A-Z]\w+)` ([\d.]+)/g)].map((m) => [m[1], Number(m[2])]),
  );
  expect(named.length).toBeGreaterThan(15);
  for (const [name, value] of named) expect([name, defaults[name as string]]).toEqual([name, value]);
  const thresholds = Object.keys(defaults).filter((name) =>
    /^(min|max|weak)(?!Weight)|^meanWeightZ|^turnShare|^propensityAlpha/.test(name),
  );
  expect(new Set(named.map(([name]) => name))).toEqual(new Set(thresholds));
});

test('every table of a store is named, and how "schema" and "describe --episodes --json" print', async () => {
  const tables = /One DuckDB file with the tables ([^;]*);/.exec(readme)![1]!;
  expect([...tables.matchAll(/`(\w+)`/g)].map((m) => m[1]).sort()).toEqual(
    [...Object.keys(TABLES), 'meta'].sort(),
  );
  expect(readme).not.toMatch(/`turnwise schema` prints/);
  expect(readme).toMatch(/`describe --episodes --json` JSON Lines/);
  expect((await commands.describe!()).options.episodes!.help).toMatch(/--json one JSON object a line/);
});
