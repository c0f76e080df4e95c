import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../src/schema/parse-config.ts';

const Settings = z.strictObject({ level: z.number().gt(0).lt(1).default(0.95), rounds: z.int().default(3) });

test('defaults are filled in, and what is wrong is named with its setting', () => {
  expect(parseConfig(Settings, { rounds: 5 }, 'x')).toEqual({ level: 0.95, rounds: 5 });
  expect(() => parseConfig(Settings, { level: 2, rounds: 'many' }, 'bounds settings')).toThrow(
    /^bounds settings: level: Too big: .*; rounds: Invalid input: expected number, received string$/,
  );
  expect(() => parseConfig(Settings, { levle: 0.9 }, 'bounds settings')).toThrow(
    'bounds settings: Unrecognized key: "levle". There are level, rounds.',
  );
  expect(() => parseConfig(Settings, 7, 'bounds settings')).toThrow(/^bounds settings: Invalid input/);
});

test('a wrong setting is an error of usage', () => {
  expect(() => parseConfig(Settings, { level: 1 }, 's')).toThrow(expect.objectContaining({ exitCode: 2 }));
});
