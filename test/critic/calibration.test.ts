import { expect, test } from 'vitest';
import { fitCritic } from '../../src/critic/critic.ts';
import { worldOf } from './world.ts';

test('tenths of the turns whose outcomes are all alike have no standard error, the others have one', () => {
  // State 1 always succeeds; in state 0 5 of 13 episodes do.
  const episodes = Array.from({ length: 400 }, (_, i) => ({
    id: `e${i + 1000}`,
    task: `t${i % 50}`,
    reward: i % 2 === 1 || (i * 7919) % 13 < 5 ? 1 : 0,
    turns: [{ state: i % 2, action: 'a' }],
  }));
  const w = worldOf(episodes, 2);
  const bins = fitCritic(w.t, w.states, w.actions, { placebos: 1 }).report.calibration;
  const alike = bins.filter((b) => b.observed === 1);
  const mixed = bins.filter((b) => b.observed < 1);
  expect(alike.length).toBe(5);
  expect(mixed.length).toBe(5);
  for (const b of alike) expect(b.se).toBeNull();
  for (const b of mixed) expect(b.se).toBeGreaterThan(0);
});
