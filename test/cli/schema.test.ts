import { expect, test } from 'vitest';
import type { Io } from '../../src/cli/command.ts';
import { schemaCommand } from '../../src/cli/schema.ts';
import { SCHEMAS } from '../../src/schema/schemas.ts';

async function printed(...names: string[]): Promise<string> {
  let out = '';
  const io: Io = { out: (text) => (out += text), err() {}, progress() {}, stdin: process.stdin };
  await schemaCommand.run({}, names, io);
  return out;
}

test('every schema is a JSON Schema that refuses unknown keys', async () => {
  for (const name of [...Object.keys(SCHEMAS), 'policy']) {
    const schema = JSON.parse(await printed(name));
    expect(schema.$schema, name).toMatch(/json-schema.org/);
    // A reward file may be any table that has the columns asked for; the others are ignored.
    if (name === 'rewards') expect(schema.additionalProperties).toEqual({});
    else expect(schema.additionalProperties, name).toBe(false);
  }
});

test('the list names each of them', async () => {
  const list = await printed();
  for (const name of Object.keys(SCHEMAS)) expect(list).toMatch(new RegExp(`^  ${name} `, 'm'));
});

test('an unknown name is a usage error that lists the known ones', async () => {
  await expect(printed('nothing')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/unknown schema, got "nothing", expected one of episode/),
  });
});
