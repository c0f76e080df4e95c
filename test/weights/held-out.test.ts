import { expect, test } from 'vitest';
import { heldOut } from '../../src/weights/held-out.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

const loaded = trajectoriesOf(
  ['A', 'A', 'B', 'C', null].map((task_id, i) => ({ episode_id: `e${i}`, task_id, reward: 1, turns: [] })),
);
// Sources: 0 holds A and B, 1 holds another rollout of A, C and a nameless one.
const t = { ...loaded, episodes: { ...loaded.episodes, source: Int32Array.of(0, 1, 0, 1, 1) } };
const sources = [
  { source: 0, path: 'train.jsonl', sha256: 'aa' },
  { source: 1, path: 'new.jsonl', sha256: 'bb' },
];
const kept = (h: ReturnType<typeof heldOut>) => [...h.trajectories.index];

test('none keeps all, quietly; unknown keeps all, loudly', () => {
  expect(heldOut(t, 'none')).toMatchObject({ known: true, episodes: 0, warnings: [] });
  for (const unknown of ['unknown' as const, { sources: [], tasks: [] }]) {
    const h = heldOut(t, unknown);
    expect(kept(h)).toEqual([0, 1, 2, 3, 4]);
    expect(h.known).toBe(false);
    expect(h.warnings.map((w) => w.code)).toEqual(['trained-on-unknown']);
  }
});

test('named tasks are moved out, with counts; nameless episodes leave a doubt', () => {
  const h = heldOut(t, { sources: [], tasks: ['A', 'elsewhere'] });
  expect(kept(h)).toEqual([2, 3, 4]);
  expect(h).toMatchObject({ episodes: 2, tasks: 1, known: false });
  expect(h.warnings.map((w) => w.message)).toEqual([
    'trained_on names 1 of 2 tasks that these logs do not have, "elsewhere" for instance',
    'the target was trained on 1 of these tasks: 2 of 5 episodes are left out',
    '1 episodes have no task id, so trained_on cannot be checked for them',
  ]);
});

test.each(['train.jsonl', 'aa'])('a training source takes its tasks out of every source: %s', (name) => {
  const h = heldOut(t, { sources: [name], tasks: [] }, sources);
  expect(kept(h)).toEqual([3, 4]);
  expect(h).toMatchObject({ episodes: 3, tasks: 2, known: true });
});

test('a source that these logs do not know leaves a doubt', () => {
  const h = heldOut(t, { sources: ['other.jsonl'], tasks: [] }, sources);
  expect(kept(h)).toEqual([0, 1, 2, 3, 4]);
  expect(h.known).toBe(false);
});

test('task ids that these logs do not have are said; where none is known the overlap is not', () => {
  const some = heldOut({ ...t, index: t.index.slice(0, 4) }, { sources: [], tasks: ['A', 'x', 'y'] });
  expect(some).toMatchObject({ episodes: 2, known: true });
  expect(some.warnings[0]).toMatchObject({ code: 'trained-on-task-unknown', count: 2 });
  expect(heldOut(t, { sources: [], tasks: ['x', 'y'] }).known).toBe(false);
  expect(heldOut(t, { sources: [], tasks: ['A', 'B'] }).warnings.map((w) => w.code)).not.toContain(
    'trained-on-task-unknown',
  );
});
