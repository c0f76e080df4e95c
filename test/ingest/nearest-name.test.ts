import { expect, test } from 'vitest';
import { nearestName } from '../../src/ingest/nearest-name.ts';
import { zodReason } from '../../src/ingest/zod-reason.ts';
import { Episode } from '../../src/schema/episode.ts';
import { Turn } from '../../src/schema/turn.ts';

const EPISODE = Object.keys(Episode.shape);
const TURN = Object.keys(Turn.shape);

test.each([
  ['metadata', EPISODE, 'meta'],
  ['episodeId', EPISODE, 'episode_id'],
  ['task-id', EPISODE, 'task_id'],
  ['rewrad', EPISODE, 'reward'],
  ['final_reward', EPISODE, 'reward'],
  ['task', EPISODE, 'task_id'],
  ['version', EPISODE, undefined],
  ['id', EPISODE, undefined],
  ['prompt', EPISODE, undefined],
  ['behavior_logprob', TURN, 'behaviour_logprob'],
  ['logprob', TURN, 'behaviour_logprob'],
  ['tool_call', TURN, 'tool_calls'],
  ['xyz', TURN, undefined],
])('%s', (name, known, expected) => {
  expect(nearestName(name, known)).toBe(expected);
});

const reason = (record: unknown) => zodReason(Episode.safeParse(record).error!, Episode);

test('every problem of a record is told, with its column and the name it may stand for', () => {
  expect(
    reason({
      episode_id: '',
      reward: 'high',
      metadata: {},
      turns: [
        { behavior_logprob: -1, sampling: { temprature: 1 }, tool_calls: [{ nam: 'x', arguments: 1 }] },
      ],
    }).split('; '),
  ).toEqual([
    'episode_id: too small: expected string to have >=1 characters',
    'reward: expected number, received string',
    'turns[0].tool_calls[0].name: is missing, expected string',
    'turns[0].tool_calls[0]: unknown column "nam" (did you mean "name"?)',
    'turns[0].sampling: unknown column "temprature" (did you mean "temperature"?)',
    'turns[0]: unknown column "behavior_logprob" (did you mean "behaviour_logprob"?)',
    'unknown column "metadata" (did you mean "meta"?)',
  ]);
});

test('a time as most programs print it is read, without a zone as UTC; any other text is told what is missing', () => {
  const read = (started_at: string) => Episode.parse({ episode_id: 'a', turns: [], started_at }).started_at;
  expect(read('2026-01-31 09:30:00+00:00')).toBe('2026-01-31T09:30:00+00:00');
  expect(read('2026-01-31T09:30:00')).toBe('2026-01-31T09:30:00Z');
  for (const started_at of ['yesterday', '31.01.2026 09:30', '2026-13-31 09:30:00'])
    expect(reason({ episode_id: 'a', turns: [], started_at })).toBe(
      'started_at: is no ISO 8601 time, expected as 2026-01-31T09:30:00Z or with an offset like +01:00',
    );
});

test('an array of nothing but wrong values does not make a page of text', () => {
  const token_ids = Array.from({ length: 50 }, () => 'x');
  const told = reason({ episode_id: 'a', turns: [], segments: [{ token_ids, action_mask: [] }] });
  expect(told).toMatch(/^segments\[0\]\.token_ids\[0\]: .*; and 42 more$/);
});
