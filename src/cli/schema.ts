import { z } from 'zod';
import { PolicyFile } from '../policy/policy-file.ts';
import { failure } from '../schema/error.ts';
import { SCHEMAS } from '../schema/schemas.ts';
import type { Command } from './command.ts';
import { didYouMean } from './nearest.ts';
import { table } from './table.ts';

const ALL: typeof SCHEMAS = {
  ...SCHEMAS,
  policy: { schema: PolicyFile, io: 'input', about: 'a declared tabular policy, for --target' },
};

export const schemaCommand: Command = {
  name: 'schema',
  prints: 'data',
  summary: 'JSON Schema of the records it reads and of the results it prints',
  positionals: '[name]',
  options: {},
  examples: ['turnwise schema', 'turnwise schema episode > episode.schema.json'],
  async run(_values, [name], io) {
    if (name === undefined) {
      io.out(
        table(
          ['name', 'what'],
          Object.entries(ALL).map(([key, { about }]) => [key, about]),
          [],
          90,
        ),
      );
      return 0;
    }
    const found = Object.hasOwn(ALL, name) ? ALL[name] : undefined;
    if (!found)
      throw failure({
        subject: 'turnwise schema',
        wrong: 'unknown schema',
        got: `"${name}"`,
        expected: `one of ${Object.keys(ALL).join(', ')}`,
        fix: didYouMean(name, Object.keys(ALL)),
        exitCode: 2,
      });
    io.out(`${JSON.stringify(z.toJSONSchema(found.schema, { io: found.io }), null, 2)}\n`);
    return 0;
  },
};
