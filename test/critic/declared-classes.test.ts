import { expect, test } from 'vitest';
import { fitCritic } from '../../src/critic/critic.ts';
import { random, uniform } from '../../src/math/random.ts';
import { withActionHistory } from '../../src/trajectories/action-history.ts';
import { type TestEpisode, worldOf } from './world.ts';

/** Four turns of A or B at even odds; success .1 + .4·easy + .1·(count of A). Exactly A(A) = .05, A(B) = −.05. */
function episodes(n: number): TestEpisode[] {
  const rng = random(12, 'declared classes');
  return Array.from({ length: n }, (_, i) => {
    const task = i % (n / 5);
    const easy = task % 2;
    const turns = Array.from({ length: 4 }, () => ({ state: easy, action: uniform(rng) < 0.5 ? 'A' : 'B' }));
    const p = 0.1 + 0.4 * easy + 0.1 * turns.filter((x) => x.action === 'A').length;
    return {
      id: `e${String(i).padStart(5, '0')}`,
      task: `t${task}`,
      reward: uniform(rng) < p ? 1 : 0,
      turns,
    };
  });
}

const w = worldOf(episodes(3000), 2);
const withHistory = withActionHistory(w.t, w.states, w.actions);

test('counts and the last class are of earlier turns of the same episode alone', () => {
  const x = withHistory;
  expect(x.names.slice(2)).toEqual(['n_class=A', 'n_class=B', 'last_class=A', 'last_class=B']);
  const { codes, values } = w.t.turns.actionClass;
  for (let s = 0; s < 40; s++) {
    const before = Array.from(codes.subarray(s - (s % 4), s), (c) => values[c]!);
    const row = Object.fromEntries(
      Array.from({ length: x.offsets[s + 1]! - x.offsets[s]! }, (_, k) => {
        const at = x.offsets[s]! + k;
        return [x.names[x.indices[at]!]!, x.values[at]!];
      }).filter(([name]) => /class/.test(String(name))),
    );
    const expected: Record<string, number> = {};
    for (const a of before) expected[`n_class=${a}`] = (expected[`n_class=${a}`] ?? 0) + 1;
    if (before.length > 0) expected[`last_class=${before.at(-1)}`] = 1;
    expect(row).toEqual(expected);
  }
});

test('an action that only declares a class gets its own credit at each turn, not all at the last', () => {
  const gap = (states: typeof w.states): number[] => {
    const fit = fitCritic(w.t, states, w.actions, { placebos: 1 });
    const { codes, values } = w.t.turns.actionClass;
    return [0, 1, 2, 3].map((stage) => {
      const sum = [0, 0];
      const n = [0, 0];
      for (const row of fit.rows.rows) {
        if (fit.rows.stage[row] !== stage) continue;
        const k = values[codes[row]!] === 'A' ? 0 : 1;
        sum[k]! += fit.advantage[row]!;
        n[k]!++;
      }
      return sum[0]! / n[0]! - sum[1]! / n[1]!;
    });
  };
  // Exactly .1 at each turn. Without the history: .0 at turns 0 to 2. SE of a gap: at most .5 · 2/√3000 = .018.
  for (const found of gap(withHistory)) expect(Math.abs(found - 0.1)).toBeLessThan(3 * 0.018);
  for (const found of gap(w.states).slice(0, 3)) expect(Math.abs(found)).toBeLessThan(0.01);
});

test('a state that does not show earlier classes is told, and one that does is not', () => {
  const codes = (states: typeof w.states) =>
    fitCritic(w.t, states, w.actions, { placebos: 19 }).report.warnings.map((x) => x.code);
  expect(codes(w.states)).toContain('next-state-blind');
  expect(codes(withHistory)).not.toContain('next-state-blind');
});
