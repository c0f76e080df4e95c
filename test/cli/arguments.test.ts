import { expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { commands } from '../../src/cli/commands.ts';
import type { TurnwiseError } from '../../src/schema/error.ts';

const all = await Promise.all(Object.values(commands).map((load) => load()));
const flags = all.flatMap((command) =>
  Object.entries(command.options).map(([name, option]) => ({ command, name, option })),
);
/** Every required flag but `name`, once. */
const others = (command: (typeof all)[number], name: string): string[] =>
  Object.entries(command.options).flatMap(([n, o]) => (o.required && n !== name ? [`--${n}`, 'x'] : []));
const refused = (read: () => unknown): TurnwiseError | undefined => {
  try {
    read();
    return undefined;
  } catch (error) {
    return error as TurnwiseError;
  }
};

const single = flags.filter(({ option }) => option.type === 'string' && !option.multiple);
test.each(single.map(({ command, name }) => [command.name, name, command] as const))(
  'turnwise %s: --%s given twice is a usage error that names it',
  (_, name, command) => {
    for (const twice of [
      [`--${name}`, 'a', `--${name}`, 'b'],
      [`--${name}=a`, `--${name}`, 'a'],
    ]) {
      const error = refused(() => readArguments(command, [...others(command, name), ...twice]));
      expect(error?.exitCode).toBe(2);
      expect(error?.message).toMatch(
        new RegExp(`^turnwise ${command.name}: --${name} takes one value, got "a" and "[ab]"\\. `),
      );
    }
  },
);

test('there are such flags in nearly every command, and one value is read', () => {
  // All but "schema" and "version", which take no value.
  expect(new Set(single.map(({ command }) => command.name)).size).toBe(all.length - 2);
  for (const { command, name } of single)
    expect(readArguments(command, [...others(command, name), `--${name}`, 'a']).values[name]).toBe('a');
});

test('flags that may be repeated keep all of their values', () => {
  const repeated = flags.filter(({ option }) => option.multiple);
  expect(repeated.map(({ command, name }) => `${command.name} --${name}`)).toContain('evaluate --target');
  for (const { command, name } of repeated)
    expect(
      readArguments(command, [...others(command, name), `--${name}`, 'a', `--${name}`, 'b']).values[name],
    ).toEqual(['a', 'b']);
});

test('audit says that evaluate takes several targets', () => {
  const audit = all.find((c) => c.name === 'audit')!;
  const error = refused(() => readArguments(audit, ['--store', 's', '--target', 'a', '--target', 'b']));
  expect(error?.message).toBe(
    'turnwise audit: --target takes one value, got "a" and "b". Audit them one by one, or compare them: "turnwise evaluate --target A --target B".',
  );
});
