import { expect, test } from 'vitest';
import { parsedArguments } from '../../src/ingest/formats/messages.ts';
import { unusable } from '../../src/ingest/unusable.ts';
import { Episode } from '../../src/schema/episode.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
/** With the list of calls and the call around them they are 512 levels deep, as deep as any reader takes. */
const LIMIT = 510;

test('arguments written as text are parsed where the column of calls can be read again, else they stay text', () => {
  expect(parsedArguments(nested(LIMIT))).toEqual(JSON.parse(nested(LIMIT)));
  for (const levels of [LIMIT + 1, LIMIT + 2, LIMIT + 3, 5_000])
    expect(parsedArguments(nested(levels))).toBe(nested(levels));
});

test('arguments nested deeper than that cannot be stored', () => {
  const reason = (levels: number) => {
    const call = { name: 'f', arguments: JSON.parse(nested(levels)) };
    return unusable(Episode.parse({ episode_id: 'a', turns: [{ tool_calls: [call] }] }));
  };
  expect(reason(LIMIT)).toBeUndefined();
  expect(reason(LIMIT + 1)).toBe('turns[0].tool_calls[0].arguments: is nested deeper than 510 levels');
});
