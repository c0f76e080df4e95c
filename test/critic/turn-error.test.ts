import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fitCritic } from '../../src/critic/critic.ts';
import { random, uniform } from '../../src/math/random.ts';
import { agentTurns, sparse, worldOf } from './world.ts';

const exact = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../fixtures/tool-agent-exact.json'), 'utf8'),
).policies.behaviour as {
  V_t: Record<string, Record<string, number>>;
  Q_t: Record<string, Record<string, Record<string, number>>>;
};

describe('standard error of A of one turn', () => {
  test('one state, two actions, no penalty: s² (1/n_a − 1/n) + (σ_V² − σ_Q²)₊ / n, by hand', () => {
    const episodes = Array.from({ length: 60 }, (_, i) => {
      const action = i % 3 === 0 ? 'a' : 'b';
      const reward = ((i * 7919) % 13) / 13 + (action === 'a' ? 0.5 : 0);
      return { id: `e${i + 100}`, task: `t${i % 15}`, reward, turns: [{ state: 0, action }] };
    });
    const w = worldOf(episodes, 1);
    const isA = episodes.map((e) => e.turns[0]!.action === 'a');
    const actions = sparse(
      isA.map((a) => [a ? 1 : 0]),
      ['a'],
    );
    const f = fitCritic(w.t, w.states, actions, { lambda: 0, interactions: 'none', placebos: 1, folds: 4 });
    const rows = episodes.map((_, i) => i);
    const mean = (of: number[]) => of.reduce((s, i) => s + episodes[i]!.reward, 0) / of.length;
    const training = (i: number) => rows.filter((j) => f.rows.fold[j] !== f.rows.fold[i]);
    const same = (i: number) => training(i).filter((j) => isA[j] === isA[i]);
    const eQ = rows.map((i) => episodes[i]!.reward - mean(same(i)));
    const eV = rows.map((i) => episodes[i]!.reward - mean(training(i)));
    const byTask = (e: number[]) => {
      const sums = new Map<string, number>();
      for (const i of rows) sums.set(episodes[i]!.task, (sums.get(episodes[i]!.task) ?? 0) + e[i]!);
      return [...sums.values()].reduce((s, x) => s + x * x, 0) / rows.length;
    };
    const s2 = eQ.reduce((s, x) => s + x * x, 0) / rows.length;
    const luck = Math.max(byTask(eV) - byTask(eQ), 0);
    expect(luck).toBeGreaterThan(0.01);
    for (const i of rows) {
      const n = training(i).length;
      expect(f.advantage[i]).toBeCloseTo(mean(same(i)) - mean(training(i)), 9);
      expect(f.advantageSe[i]).toBeCloseTo(Math.sqrt(s2 * (1 / same(i).length - 1 / n) + luck / n), 9);
    }
  });

  test('± 2 of it hold the exact advantage where a turn has its own regression', () => {
    let inside = 0;
    let turns = 0;
    let squares = 0;
    for (let seed = 0; seed < 6; seed++) {
      const w = worldOf(agentTurns(4000, seed, 400));
      const f = fitCritic(w.t, w.states, w.actions, { placebos: 1 });
      const own = f.report.stages.filter((s) => !s.pooled).length;
      expect(own).toBeGreaterThan(1);
      for (const row of f.rows.rows) {
        const turn = w.t.turns.turn[row]!;
        if (turn >= own) continue;
        const q = w.states.indices[row]!;
        const a = w.t.turns.actionClass.values[w.t.turns.actionClass.codes[row]!]!;
        const at = exact.Q_t[turn + 1]![q]!;
        const z = (f.advantage[row]! - (at[a]! - exact.V_t[turn + 1]![q]!)) / f.advantageSe[row]!;
        turns++;
        squares += z * z;
        if (Math.abs(z) <= 2) inside++;
      }
    }
    expect(inside / turns).toBeGreaterThan(0.93);
    // Not by being far too wide.
    expect(Math.sqrt(squares / turns)).toBeGreaterThan(0.5);
  });

  // Each turn pays 1 with probability .9 after a and .1 after b, whatever the state: A is ± .4 and V does not depend on it.
  test.each([1, 3])('V does not depend on the state, %i turns: z has about unit size', (T) => {
    const sets = 20;
    let total = 0;
    for (let seed = 0; seed < sets; seed++) {
      const rng = random(seed, 'V constant');
      const pay = (action: string): number => (uniform(rng) < (action === 'a' ? 0.9 : 0.1) ? 1 : 0);
      const episodes = Array.from({ length: 600 }, (_, i) => {
        const turns = Array.from({ length: T }, () => ({
          state: uniform(rng) < 0.5 ? 0 : 1,
          action: uniform(rng) < 0.5 ? 'a' : 'b',
        }));
        const reward = pay(turns[T - 1]!.action);
        const paid = turns.map((s, k) => (k < T - 1 ? { ...s, reward: pay(s.action) } : s));
        return { id: `e${i + 1000}`, task: `t${i % 150}`, reward, turns: paid };
      });
      const w = worldOf(episodes, 2);
      const f = fitCritic(w.t, w.states, w.actions, { placebos: 1, minStageRows: 100 });
      expect(f.report.stages.every((s) => !s.pooled)).toBe(true);
      let squares = 0;
      for (const row of f.rows.rows) {
        const a = w.t.turns.actionClass.values[w.t.turns.actionClass.codes[row]!]!;
        squares += ((f.advantage[row]! - (a === 'a' ? 0.4 : -0.4)) / f.advantageSe[row]!) ** 2;
      }
      total += squares / f.rows.rows.length / sets;
    }
    // Turns of a data set share their error: z² has mean 1 and variance 2 / sets at most. Twice that.
    const slack = 2 * Math.sqrt(2 / sets);
    expect(total).toBeGreaterThan(1 - slack);
    expect(total).toBeLessThan(1 + slack);
  });

  test('a feature that never varied in the training part leaves no error', () => {
    const episodes = Array.from({ length: 40 }, (_, i) => ({
      id: `e${i + 100}`,
      task: `t${i % 10}`,
      reward: i % 2,
      turns: [{ state: i === 0 ? 2 : i % 2, action: 'a' }],
    }));
    const w = worldOf(episodes);
    const f = fitCritic(w.t, w.states, w.actions, { placebos: 1 });
    expect(f.advantageSe[0]).toBeNaN();
    expect(f.advantageSe.subarray(1).every((x) => x >= 0)).toBe(true);
  });
});
