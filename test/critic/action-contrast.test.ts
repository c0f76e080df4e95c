import { describe, expect, test } from 'vitest';
import { actionContrast, turnCells } from '../../src/critic/action-contrast.ts';
import { fitCritic } from '../../src/critic/critic.ts';
import type { CriticRows } from '../../src/critic/critic-rows.ts';
import { contrastMark } from '../../src/critic/marks.ts';
import { random, uniform } from '../../src/math/random.ts';
import { agentTurns, worldOf } from './world.ts';

interface Row {
  readonly task: number;
  readonly stage: number;
  readonly taken: number;
  readonly toGo: number;
  readonly v?: number;
}

/** The contrast of hand-made turns; each row is an episode's turn of its own. */
function contrastOf(rows: readonly Row[]) {
  const clusters = Math.max(...rows.map((x) => x.task)) + 1;
  const r = {
    rows: Int32Array.from(rows.keys()),
    place: Int32Array.from(rows.keys()),
    cluster: Int32Array.from(rows, (x) => x.task),
    stage: Int32Array.from(rows, (x) => x.stage),
    toGo: Float64Array.from(rows, (x) => x.toGo),
    clusters,
  } as unknown as CriticRows;
  const v = Float64Array.from(rows, (x) => x.v ?? 0);
  return actionContrast(
    turnCells(r, v),
    Uint8Array.from(rows, (x) => x.taken),
    clusters,
  );
}

const row = (task: number, stage: number, taken: number, toGo: number): Row => ({ task, stage, taken, toGo });

/** Share of data sets with any mark over `tools` actions. */
function markedShare(
  sets: number,
  tools: number,
  make: (rng: ReturnType<typeof random>) => (Row & { tool: number })[],
) {
  let marked = 0;
  for (let s = 0; s < sets; s++) {
    const rows = make(random(s, 'null world'));
    const marks = Array.from({ length: tools }, (_, a) =>
      contrastMark(contrastOf(rows.map((x) => ({ ...x, taken: x.tool === a ? 1 : 0 }))), tools),
    );
    if (marks.some((m) => m !== null)) marked++;
  }
  return marked / sets;
}

const SETS = 200;
const ALLOWED = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / SETS);

describe('the contrast of an action within tasks', () => {
  test('by hand: three tasks of two turns, CR2 and the effective number of tasks', () => {
    // Differences 1, 0, .5: θ = .5; Σx̃² = 1.5, each task .5, h = 1/3; u = ½·(d − θ) = .25, −.25, 0.
    const c = contrastOf([
      ...[row(0, 0, 1, 1), row(0, 0, 0, 0)],
      ...[row(1, 0, 1, 1), row(1, 0, 0, 1)],
      ...[row(2, 0, 1, 0.5), row(2, 0, 0, 0)],
    ]);
    expect(c.mean).toBeCloseTo(0.5, 12);
    expect(c.se).toBeCloseTo(Math.sqrt(0.125 / (2 / 3)) / 1.5, 12);
    expect(c.df).toBeCloseTo(2, 12);
    expect(c.tasks).toBe(3);
  });

  test('levels of tasks and of turns do not enter', () => {
    const rows = [0, 1, 2].flatMap((t) =>
      [0, 1].flatMap((k) => [row(t, k, 1, t / 3 + (k === 0 ? 0.25 : 0)), row(t, k, 0, t / 2)]),
    );
    const moved = rows.map((x) => ({ ...x, toGo: x.toGo + 10 * x.task - 3 * x.stage * x.task }));
    expect(contrastOf(moved).mean).toBeCloseTo(contrastOf(rows).mean!, 10);
  });

  test('what V̂ foretells is taken out though its slope is wrong', () => {
    // G = 1{state}, the action is taken more often in that state, V̂ flat at .2 of its slope: no effect.
    const rows = [0, 1, 2, 3].flatMap((t) =>
      [1, 1, 1, 0].flatMap((a) => [
        { ...row(t, 0, a, 1), v: 0.2 },
        { ...row(t, 0, 1 - a, 0), v: 0 },
      ]),
    );
    expect(contrastOf(rows).mean).toBeCloseTo(0, 10);
  });

  test('one trial a task, or one task that tells: none, with the reason', () => {
    const single = contrastOf([row(0, 0, 1, 1), row(1, 0, 0, 0), row(2, 0, 1, 1)]);
    expect(single).toMatchObject({ mean: null, se: null, df: null });
    expect(single.reason).toContain('nothing to compare');
    const one = contrastOf([row(0, 0, 1, 1), row(0, 0, 0, 0), row(1, 0, 1, 1), row(1, 0, 1, 0)]);
    expect(one.reason).toContain('several');
    expect(contrastMark(one, 1)).toBeNull();
  });

  test('tools without effect are not marked more often than 5 %', () => {
    // 50 tasks of 4 trials, success .2 or .8 by task, 5 to 9 turns, 8 tools at random; V̂ knows nothing.
    const share = markedShare(SETS, 8, (rng) => {
      const rows: (Row & { tool: number })[] = [];
      for (let t = 0; t < 50; t++)
        for (let k = 0; k < 4; k++) {
          const toGo = uniform(rng) < (t % 2 ? 0.2 : 0.8) ? 1 : 0;
          const n = 5 + Math.floor(5 * uniform(rng));
          for (let stage = 0; stage < n; stage++)
            rows.push({ ...row(t, stage, 0, toGo), tool: Math.floor(8 * uniform(rng)) });
        }
      return rows;
    });
    expect(share).toBeLessThanOrEqual(ALLOWED);
  });

  test('nor where each kind of request has its own favourite tool and success rate, and length tells the outcome', () => {
    const share = markedShare(SETS, 4, (rng) => {
      const rows: (Row & { tool: number })[] = [];
      for (let t = 0; t < 48; t++)
        for (let k = 0; k < 4; k++) {
          const kind = t % 4;
          const toGo = uniform(rng) < 0.2 + 0.2 * kind ? 1 : 0;
          // Failing episodes run on; tool 3 is what late turns use.
          const n = (toGo ? 2 : 5) + Math.floor(3 * uniform(rng));
          for (let stage = 0; stage < n; stage++) {
            const u = uniform(rng);
            const late = stage > 3 && u > 0.5;
            rows.push({
              ...row(t, stage, 0, toGo),
              tool: late ? 3 : u < 0.4 ? kind : Math.floor(4 * uniform(rng)),
            });
          }
        }
      return rows;
    });
    expect(share).toBeLessThanOrEqual(ALLOWED);
  });

  test('a clear effect is marked where V does not depend on the state: one turn, .9 against .1', () => {
    const rng = random(1, 'clear effect');
    const w = worldOf(
      Array.from({ length: 400 }, (_, i) => {
        const a = uniform(rng) < 0.5 ? 'a' : 'b';
        const reward = uniform(rng) < (a === 'a' ? 0.9 : 0.1) ? 1 : 0;
        return { id: `e${i}`, task: `t${i % 100}`, reward, turns: [{ state: 0, action: a }] };
      }),
      1,
    );
    const { actions } = fitCritic(w.t, w.states, w.actions, { placebos: 1 }).report;
    expect(actions.map((a) => [a.action, a.mark])).toEqual([
      ['class=a', 'helpful'],
      ['class=b', 'harmful'],
    ]);
    // θ is .9 − .1 = .8, seen on about 300 informative contrasts of SD .42.
    expect(Math.abs(actions[0]!.contrast.mean! - 0.8)).toBeLessThan(4 * actions[0]!.contrast.se!);
    expect(actions[0]!.contrast.se!).toBeLessThan(0.06);
  });

  test('no action has an error that holds the critic fixed, and one trial a task marks none', () => {
    const w = worldOf(agentTurns(600, 3));
    const { actions } = fitCritic(w.t, w.states, w.actions, { placebos: 1 }).report;
    for (const a of actions)
      expect([a.delta.se, a.advantage.se, a.mark, a.contrast.mean]).toEqual([null, null, null, null]);
  });
});
