import { afterEach, expect, test } from 'vitest';
import { check } from '../../src/inspect/check.ts';
import { compare } from '../../src/inspect/compare.ts';
import { ambiguousTasks } from '../../src/inspect/instructions.ts';
import { Comparison } from '../../src/schema/compare.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { Store } from '../../src/store/store.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

interface Trial {
  readonly id: string;
  readonly policy: string;
  readonly task: string;
  readonly reward?: number;
  readonly opening?: string | null;
  readonly instruction?: string;
  readonly source?: number;
}
async function made(trials: readonly Trial[]): Promise<Store> {
  const store = await storeOf(
    trials.map(
      (x): EpisodeInput => ({
        episode_id: x.id,
        policy: x.policy,
        task_id: x.task,
        reward: x.reward ?? 0,
        turns: [{ observation: x.opening ?? null, action: 'a' }],
      }),
    ),
    Object.fromEntries(
      trials.flatMap((x) => (x.instruction ? [[x.id, { 'task.instruction': x.instruction }]] : [])),
    ),
  );
  opened.push(store);
  for (const x of trials)
    if (x.source) await plant(store, `UPDATE episodes SET source = ${x.source} WHERE episode_id = '${x.id}'`);
  return store;
}

const AIRLINE = 'You want to change your flight from Boston to Denver to the day after';
const RETAIL = 'You bought a jigsaw puzzle and would like to return it for a refund';

test('two domains under the same ids: fenced instructions say so, check names them, compare does not pair them', async () => {
  const trials = [0, 1, 2, 3, 4, 5, 6].flatMap((k): Trial[] => [
    { id: `a${k}`, policy: 'A', task: `${k}`, reward: k % 2, instruction: `${AIRLINE} ${k}` },
    { id: `b${k}`, policy: 'B', task: `${k}`, reward: 1, instruction: `${k < 2 ? RETAIL : AIRLINE} ${k}` },
  ]);
  const store = await made(trials);
  expect(await ambiguousTasks(store)).toEqual(['0', '1']);
  const finding = (await check(store)).findings.find((f) => f.code === 'ambiguous-task')!;
  expect(finding).toMatchObject({ severity: 'warning', count: 2 });
  expect(finding.examples.map((e) => [e.episode, e.value])).toEqual([
    ['a0', '0'],
    ['a1', '1'],
  ]);
  const c = Comparison.parse(await compare(store, 'A', 'B'));
  expect(c.tasks).toEqual({ common: 5, onlyA: 0, onlyB: 0 });
  expect(c.ambiguousTasks).toBe(2);
  // Tasks 2 to 6: A 0, 1, 0, 1, 0 and B 1.
  expect(c.outcomes[0]!.difference.value).toBeCloseTo(3 / 5, 12);
  expect(c.outcomes[0]!.a).toMatchObject({ n: 7, mean: 3 / 7 });
  expect(c.warnings.find((w) => w.code === 'ambiguous-task')).toMatchObject({ count: 2, column: 'task_id' });
});

test('where every id is ambiguous nothing is compared, and the way out is named', async () => {
  const store = await made([
    { id: 'a', policy: 'A', task: '0', instruction: AIRLINE },
    { id: 'b', policy: 'B', task: '0', instruction: RETAIL },
  ]);
  await expect(compare(store, 'A', 'B')).rejects.toThrow(/different instructions.*task ids of its own/);
});

test('both policies tried both domains: the ids are ambiguous all the same', async () => {
  const both = ['A', 'B'].flatMap((policy): Trial[] => [
    { id: `${policy}1`, policy, task: '0', instruction: AIRLINE },
    { id: `${policy}2`, policy, task: '0', instruction: RETAIL },
    { id: `${policy}3`, policy, task: '1', instruction: AIRLINE },
    { id: `${policy}4`, policy, task: '1', instruction: ` ${AIRLINE}\n` },
  ]);
  expect(await ambiguousTasks(await made(both))).toEqual(['0']);
});

test('without an instruction the opening tells, by file or policy', async () => {
  const store = await made([
    { id: 'a', policy: 'A', task: '0', opening: AIRLINE, source: 1 },
    { id: 'b', policy: 'A', task: '0', opening: RETAIL, source: 2 },
    { id: 'c', policy: 'A', task: '1', opening: AIRLINE, source: 1 },
    { id: 'd', policy: 'B', task: '1', opening: AIRLINE, source: 2 },
    { id: 'e', policy: 'B', task: '2', opening: RETAIL, source: 1 },
    { id: 'f', policy: 'A', task: '2', opening: AIRLINE, source: 1 },
  ]);
  expect(await ambiguousTasks(store)).toEqual(['0', '2']);
});

test('what legitimately differs between trials of one task is no other task', async () => {
  const stamp = (at: string) => `Current time: ${at}. ${RETAIL}`;
  const long = (end: string) => `${'policy of the airline '.repeat(400)}${end}`;
  const store = await made([
    // A time stamp, an id.
    { id: 'a', policy: 'A', task: 'time', opening: stamp('2024-05-01T10:00:00Z') },
    { id: 'b', policy: 'B', task: 'time', opening: stamp('Tue Dec 1 2026 04:20') },
    // A simulated user opens differently in each trial of one policy too.
    { id: 'c', policy: 'A', task: 'user', opening: 'Hi there! I need some help' },
    { id: 'd', policy: 'A', task: 'user', opening: 'Good morning, my order never came' },
    { id: 'e', policy: 'B', task: 'user', opening: 'please refund what was broken' },
    // Nothing was logged.
    { id: 'f', policy: 'A', task: 'none', opening: null },
    { id: 'g', policy: 'B', task: 'none', opening: RETAIL },
    // A long prompt, the same but for its last words.
    { id: 'h', policy: 'A', task: 'long', opening: long('cancel') },
    { id: 'i', policy: 'B', task: 'long', opening: long('rebook') },
  ]);
  expect(await ambiguousTasks(store)).toEqual([]);
  const c = await compare(store, 'A', 'B');
  expect([c.tasks.common, c.ambiguousTasks]).toEqual([4, 0]);
});
