import { failure } from './error.ts';

/**
 * Settings without a schema, as they are.
 * @throws where one has a name that nobody reads: most often a misspelt one, whose default would stand in silence
 */
export function known<T extends object>(
  subject: string,
  settings: T,
  names: readonly (keyof T & string)[],
): T {
  const unknown = Object.keys(settings).filter((name) => !(names as readonly string[]).includes(name));
  if (unknown.length === 0) return settings;
  throw failure({
    subject,
    wrong: 'no such setting',
    got: unknown.join(', '),
    expected: `among ${names.join(', ')}`,
    exitCode: 2,
  });
}
