import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as turnwise from '../src/index.ts';
import { PolicyFile } from '../src/policy/policy-file.ts';
import { Episode } from '../src/schema/episode.ts';
import { Score } from '../src/schema/score.ts';

const readme = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');
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
