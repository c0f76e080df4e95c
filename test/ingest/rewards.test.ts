import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect } from 'vitest';
import { joinReward, readRewards, unmatchedKeys } from '../../src/ingest/rewards.ts';
import { parseExact } from '../../src/json/exact-json.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';

const temp = mkdtempSync(join(tmpdir(), 'turnwise-rewards-'));
afterAll(() => rmSync(temp, { recursive: true }));

let made = 0;
function file(name: string, text: string, dir = join(temp, String(made++))): string {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}
const read = (name: string, text: string) => readRewards(file(name, text));
const rewardsOf = async (name: string, text: string) =>
  [...(await read(name, text)).entries].map(([key, entry]) => [key, entry.reward]);
const episode = (more: Partial<EpisodeInput> = {}): EpisodeInput => ({ episode_id: 'a', turns: [], ...more });

describe('readRewards', () => {
  test.each([
    ['JSONL', 'r.jsonl', '{"episode_id":"a","reward":1}\n\n{"session_id":"b","reward":null}\n'],
    ['a JSON array', 'r.json', '[{"trial_name":"a","reward":1},{"episode_id":"b","reward":null}]'],
    ['a JSON object', 'r.json', '{"a": 1, "b": {"reward": null}}'],
    ['CSV', 'r.csv', 'reward,episode_id\n1,a\n,b\n'],
    ['CSV whose lines end with CR', 'r.csv', 'reward,episode_id\r+1.,a\r,b\r'],
    [
      'CSV of another system',
      'r.csv',
      '\ufeff"episode_id","reward","note"\r\na,1.0,"x, ""y""\nz"\r\nb,,\r\n',
    ],
  ])('%s', async (_what, name, text) => {
    expect(await rewardsOf(name, text)).toEqual([
      ['a', 1],
      ['b', null],
    ]);
  });

  test('a single row of JSONL is a row, not a map', async () => {
    expect(await rewardsOf('r.jsonl', '{"episode_id":"a","reward":0.5}')).toEqual([['a', 0.5]]);
  });

  test("Harbor's result of a trial", async () => {
    const result = {
      trial_name: 'hello__abc',
      task_name: 'hello',
      verifier_result: { rewards: { reward: 1, speed: 0.5 } },
      exception_info: null,
    };
    const { entries } = await read('result.json', JSON.stringify(result, null, 2));
    expect(entries.get('hello__abc')).toEqual({
      reward: 1,
      rewards: { reward: { score: 1, weight: 1 }, speed: { score: 0.5, weight: 0 } },
      task_id: 'hello',
      ending: null,
      exception: null,
      place: 'result.json',
    });
  });

  test('a trial that failed before its verdict is aborted', async () => {
    const result = { trial_name: 't', verifier_result: null, exception_info: { exception_type: 'X' } };
    const join = await read('result.json', JSON.stringify(result));
    expect(joinReward(episode({ episode_id: 't' }), join)).toMatchObject({
      reward: null,
      ending: 'aborted',
      meta: { exception: { exception_type: 'X' } },
    });
  });

  const trial = (more: object) => JSON.stringify({ trial_name: 't', ...more });
  const verdict = (reward: number) => ({ verifier_result: { rewards: { reward } } });
  const died = (exception_type: string) => ({ exception_info: { exception_type, exception_message: 'm' } });
  test.each<[string, object, object]>([
    [
      'an agent that died keeps its verdict and its exception',
      { ...verdict(0), ...died('NonZeroAgentExitCodeError') },
      { reward: 0 },
    ],
    ['… also with a reward', { ...verdict(1), ...died('RuntimeError') }, { reward: 1 }],
    ['time was up', { ...verdict(0), ...died('AgentTimeoutError') }, { reward: 0, ending: 'limit' }],
    [
      'time was up, and it had done it',
      { ...verdict(1), ...died('AgentTimeoutError') },
      { reward: 1, ending: 'limit' },
    ],
    [
      'time was up, no verdict',
      { verifier_result: null, ...died('AgentTimeoutError') },
      { reward: null, ending: 'limit' },
    ],
    [
      'another time-out, no verdict',
      { verifier_result: null, ...died('VerifierTimeoutError') },
      { reward: null, ending: 'aborted' },
    ],
    [
      'the environment broke',
      { verifier_result: null, ...died('EnvironmentStartTimeoutError') },
      { reward: null, ending: 'aborted' },
    ],
  ])('%s', async (_, result, expected) => {
    const join = await read('result.json', trial(result));
    const joined = joinReward(episode({ meta: { trial_name: 't', n: 1 } }), join);
    const { exception_info: exception } = result as { exception_info: unknown };
    expect(joined).toMatchObject({ ...expected, meta: { trial_name: 't', n: 1, exception } });
    expect('ending' in joined).toBe('ending' in expected);
  });

  test('what nobody needs of a row is left out, named and counted', async () => {
    const rows = [
      { episode_id: 'a', reward: 1, task_id: { no: 'name' } },
      { episode_id: 'b', reward: 0, rewards: { style: null } },
      { episode_id: 'c', reward: 0, rewards: { style: 0.5 }, task_id: ['x'] },
      { trial_name: 'd', verifier_result: { rewards: { reward: 1, speed: null, note: 'fast' } } },
    ];
    const { entries, notes } = await read('r.jsonl', rows.map((r) => `${JSON.stringify(r)}\n`).join(''));
    expect(
      [...entries].map(([key, e]) => [key, e.reward, e.task_id, e.rewards && Object.keys(e.rewards)]),
    ).toEqual([
      ['a', 1, null, null],
      ['b', 0, null, null],
      ['c', 0, null, ['style']],
      ['d', 1, null, ['reward']],
    ]);
    expect(notes).toEqual([
      { code: 'field-left-out', about: 'task_id', count: 2 },
      { code: 'field-left-out', about: 'rewards.style', count: 1 },
      { code: 'field-left-out', about: 'verifier_result.rewards.speed', count: 1 },
      { code: 'field-left-out', about: 'verifier_result.rewards.note', count: 1 },
    ]);
  });

  test('a folder of trials: every result.json of a trial, none of a job', async () => {
    const dir = join(temp, 'job');
    file('result.json', '{"id":"job","stats":{"n":2}}', dir);
    for (const [name, reward] of [
      ['t1', 0],
      ['t2', 1],
    ] as const)
      file(
        `${name}/result.json`,
        JSON.stringify({ trial_name: name, task_name: 'task', verifier_result: { rewards: { reward } } }),
        dir,
      );
    file('t1/agent/trajectory.json', '{"session_id":"no reward file"}', dir);
    const { entries } = await readRewards(dir);
    expect([...entries].map(([key, e]) => [key, e.reward])).toEqual([
      ['t1', 0],
      ['t2', 1],
    ]);
  });

  test('a trial whose result cannot be read has no reward, and the others have theirs', async () => {
    const dir = join(temp, 'partial');
    const trial = (name: string, result: unknown, exception: string | null = null) =>
      file(
        `${name}/result.json`,
        JSON.stringify({
          trial_name: name,
          verifier_result: result,
          exception_info: exception && { exception_type: exception },
        }),
        dir,
      );
    trial('good', { rewards: { reward: 1 } });
    trial('two', { rewards: { a: 1, b: 0 } });
    trial('null', { rewards: { reward: null } }, 'AgentTimeoutError');
    trial('text', { rewards: { reward: 'high' } }, 'VerifierError');
    trial('none', { rewards: {} });
    trial('died', { rewards: {} }, 'EnvironmentStartTimeoutError');
    trial('odd', 'passed');
    file('cut/result.json', '{"trial_name": "cut", "verifier_res', dir);
    file('empty/result.json', '', dir);
    const { entries, notes } = await readRewards(dir);
    expect([...entries].map(([key, e]) => [key, e.reward, e.ending])).toEqual([
      ['died', null, 'aborted'],
      ['good', 1, null],
      ['none', null, null],
      ['null', null, 'limit'],
      ['odd', null, null],
      ['text', null, null],
      ['two', null, null],
    ]);
    expect(notes.every((n) => n.code === 'verdict-unreadable')).toBe(true);
    expect(notes.map((n) => n.about.split(':')[0])).toEqual(
      ['cut', 'empty', 'null', 'odd', 'text', 'two'].map((name) => `${name}/result.json`),
    );
    expect(entries.get('text')!.exception).toEqual({ exception_type: 'VerifierError' });
  });

  test('rewards without a reward: their weighted sum', async () => {
    const text =
      '{"episode_id":"a","rewards":{"x":{"score":2,"weight":0.25},"y":1}}\n{"episode_id":"b","reward":0}';
    expect(await rewardsOf('r.jsonl', text)).toEqual([
      ['a', 1.5],
      ['b', 0],
    ]);
  });

  test('the same row twice is one; two that differ are an error naming both lines', async () => {
    const line = (reward: number) => `{"episode_id":"a","reward":${reward}}\n`;
    expect(await rewardsOf('r.jsonl', line(1) + line(1))).toEqual([['a', 1]]);
    await expect(read('r.jsonl', `${line(1)}\n${line(0)}`)).rejects.toThrow(
      "r.jsonl line 1 and r.jsonl line 3: 'a' has two different rewards, got 1 and 0",
    );
  });

  test.each([
    ['r.csv', 'episode_id,reward\na,high\n', 'r.csv line 2: reward is text, got "high", expected a number'],
    [
      'r.csv',
      'episode_id,reward\na\n',
      'r.csv line 2: another number of cells than the header, got 1, expected 2',
    ],
    ['r.csv', 'episode_id,reward\n"a,1\n', 'r.csv line 2: a quote that never closes'],
    [
      'r.csv',
      'name,reward\na,1\n',
      'r.csv line 2: none of episode_id, session_id, trial_name is given, got columns name, reward, expected one of them and reward',
    ],
    [
      'r.csv',
      'episode_id,score\na,1\n',
      'r.csv line 2: reward is missing, got columns episode_id, score, expected a number or null in column reward',
    ],
    [
      'r.jsonl',
      '{"episode_id":"a","reward":1}\n{"episode_id":"b",',
      'r.jsonl line 2: neither a line of JSON',
    ],
    [
      'r.jsonl',
      '{"episode_id":"a"}\n',
      'r.jsonl: reward is missing, got columns episode_id, expected a number or null',
    ],
    ['r.json', '[1]', 'r.json entry 1: the row is no object'],
    [
      'r.csv',
      'episode_id,reward,reward\na,1,0\n',
      'r.csv line 1: names the column "reward" twice, so that a row has two values of it',
    ],
    ['r.csv', 'episode_id,reward\na,0x10\n', 'r.csv line 2: reward is text, got "0x10", expected a number'],
    ['r.csv', 'episode_id,reward\na,1e999\n', 'r.csv line 2: reward is Infinity, expected a finite number'],
    ['r.json', '{"a": 1, "b": 1, "a": 0}', 'r.json: has the key "a" twice in one object'],
    [
      'r.jsonl',
      '{"episode_id":"a","reward":1}\n{"episode_id":"b","reward":1,"reward":0}\n',
      'r.jsonl line 2: has the key "reward" twice in one object',
    ],
    ['r.json', '[{"episode_id":"a","episode_id":"b","reward":1}]', 'r.json: has the key "episode_id" twice'],
    ['r.json', '{"a": "high"}', `r.json key 'a': reward is text, got "high", expected a number`],
    ['r.json', '{"a": 1e999}', "r.json key 'a': reward is Infinity, expected a finite number"],
    [
      'r.json',
      '{"trial_name":"t","verifier_result":{"rewards":{"x":1,"y":2}}}',
      "r.json: verifier_result.rewards has no 'reward' among x, y",
    ],
  ])('%s %j is refused with its place', async (name, text, message) => {
    await expect(read(name, text)).rejects.toThrow(message);
  });

  test('a file that is not there is named', async () => {
    await expect(readRewards(join(temp, 'none.csv'))).rejects.toThrow('none.csv: no such file');
  });

  test('__proto__ is a name like any other', async () => {
    expect(await rewardsOf('r.json', '{"__proto__": 1}')).toEqual([['__proto__', 1]]);
    expect(({} as Record<string, unknown>).reward).toBeUndefined();
  });

  const cell = fc.string({ minLength: 1, unit: fc.constantFrom('a', ',', '"', '\n', 'é', ' ', 'x') });
  test.prop([
    fc.uniqueArray(
      cell.filter((c) => c.trim() !== ''),
      { maxLength: 8 },
    ),
  ])('names come back from CSV whatever they hold', async (names) => {
    const quoted = names.map((name, i) => `"${name.replaceAll('"', '""')}",${i}\n`).join('');
    expect(await rewardsOf('r.csv', `episode_id,reward\n${quoted}`)).toEqual(names.map((n, i) => [n, i]));
  });
});

describe('joinReward', () => {
  test('an episode is found by its id, its session or its trial', async () => {
    const join = await read('r.json', '{"a": 1, "s": 2, "t": 3, "nobody": 4}');
    expect(joinReward(episode(), join).reward).toBe(1);
    expect(joinReward(episode({ episode_id: 'x', meta: { session_id: 's' } }), join).reward).toBe(2);
    expect(joinReward(episode({ episode_id: 'x', meta: { trial_name: 't' } }), join).reward).toBe(3);
    const unknown = episode({ episode_id: 'x' });
    expect(joinReward(unknown, join)).toBe(unknown);
    expect([join.matchedEpisodes, join.unmatchedEpisodes, unmatchedKeys(join)]).toEqual([3, 1, 1]);
  });

  test('a session that is a number is its digits', async () => {
    const join = await read('r.csv', 'session_id,reward\n9007199254740993,1\n9007199254740992,2\n7,3\n');
    const rewarded = (digits: string) =>
      joinReward(
        episode({ episode_id: 'x', meta: parseExact(`{"session_id": ${digits}}`) as EpisodeInput['meta'] }),
        join,
      ).reward;
    expect(['9007199254740993', '9007199254740992', '7', '"7"', '8', '[7]', 'true'].map(rewarded)).toEqual([
      ...[1, 2, 3, 3],
      ...[undefined, undefined, undefined],
    ]);
  });

  test('task and named rewards come along; the ending is left to be settled', async () => {
    const join = await read('r.jsonl', '{"episode_id":"a","reward":1,"rewards":{"x":1},"task_id":7}');
    expect(joinReward(episode(), join)).toEqual({
      episode_id: 'a',
      turns: [],
      reward: 1,
      rewards: { x: { score: 1, weight: 1 } },
      task_id: '7',
    });
  });

  test('the same reward is never counted twice: another one is refused by name', async () => {
    const join = await read('r.csv', 'episode_id,reward,task_id\na,1,7\n');
    expect(joinReward(episode({ reward: 1 }), join).reward).toBe(1);
    expect(() => joinReward(episode({ reward: 0 }), join)).toThrow(
      "episode 'a': its reward is 0 in the log and 1 in r.csv line 2. Leave the reward out of one of them.",
    );
    expect(() => joinReward(episode({ turns: [{ reward: 1 }] }), join)).toThrow(
      "episode 'a': its turns already pay rewards; r.csv line 2 would pay 1 on top",
    );
    expect(joinReward(episode({ reward: 1, turns: [{ reward: 0.5 }] }), join).reward).toBe(1);
    expect(() => joinReward(episode({ task_id: '8' }), join)).toThrow(
      "episode 'a': its task is '8' in the log and '7' in r.csv line 2",
    );
  });
});
