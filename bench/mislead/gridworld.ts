import { choice } from '../../src/math/random.ts';
import { episode, logs, target, turn, type World } from './world.ts';

const SIZE = 4;
const STEPS = 50;
export const DISCOUNT = 0.95;
const GOAL = SIZE * SIZE - 1;
const NAMES = ['right', 'down', 'left', 'up'];
const LOGGED = [0.25, 0.25, 0.25, 0.25];
const WANTED = [0.29, 0.27, 0.22, 0.22];

function move(s: number, a: number): number {
  const x = s % SIZE;
  const y = Math.floor(s / SIZE);
  const nx = Math.min(SIZE - 1, Math.max(0, x + (a === 0 ? 1 : a === 2 ? -1 : 0)));
  const ny = Math.min(SIZE - 1, Math.max(0, y + (a === 1 ? 1 : a === 3 ? -1 : 0)));
  return ny * SIZE + nx;
}

/** Reward 1 for reaching the goal, which leads back to the start. */
const step = (s: number, a: number): [next: number, reward: number] => {
  const to = move(s, a);
  return to === GOAL ? [0, 1] : [to, 0];
};

/** Value by dynamic programming over the 50 steps. */
function exact(): number {
  let v = new Float64Array(SIZE * SIZE);
  for (let t = 0; t < STEPS; t++)
    v = v.map((_, s) =>
      WANTED.reduce((sum, p, a) => {
        const [to, r] = step(s, a);
        return sum + p * (r + DISCOUNT * v[to]!);
      }, 0),
    );
  return v[0]!;
}

export const gridworld: World = {
  name: 'gridworld of 50 steps',
  says: 'a 4 × 4 grid, 50 steps, γ = .95, uniform behaviour, right propensities, 2,000 episodes; target .29, .27, .22, .22',
  fine: null,
  value: exact(),
  discount: DISCOUNT,
  draw: (rng) => {
    const probabilities = Object.fromEntries(NAMES.map((name, a) => [name, WANTED[a]!]));
    const cells = Array.from({ length: SIZE * SIZE }, (_, s) => ({
      when: { 'features.0': s },
      probabilities,
    }));
    return logs(2000, target(cells), (i) => {
      let s = 0;
      const turns = Array.from({ length: STEPS }, () => {
        const a = choice(rng, LOGGED);
        const from = s;
        const [to, r] = step(s, a);
        s = to;
        return turn(NAMES[a]!, LOGGED[a]!, [from], r);
      });
      return episode(i, 200, turns, null, { ending: 'limit' });
    });
  },
};
