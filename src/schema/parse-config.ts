import { z } from 'zod';
import { failure } from './error.ts';

/**
 * A configuration with its defaults filled in.
 * @throws where a setting is not known or not in its range, naming each, and the settings there are
 */
export function parseConfig<S extends z.ZodType>(schema: S, value: unknown, subject: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const wrong = issues.map(({ path, message }) =>
    [path.map(String).join('.'), message].filter(Boolean).join(': '),
  );
  const unknown = issues.some(({ code }) => code === 'unrecognized_keys');
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  throw failure({
    subject,
    wrong: wrong.join('; '),
    fix: unknown && known.length > 0 ? `There are ${known.join(', ')}.` : undefined,
    exitCode: 2,
  });
}
