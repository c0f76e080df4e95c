/*
 * The processes of `npm run bench mislead`, a few data sets each: logs that mislead are not supported, for the reason that
 * the process is about; logs that are fine are. Their values are exact; coverage is the bench's matter.
 */
import { describe, expect, test } from 'vitest';
import { judge } from '../../bench/mislead/judge.ts';
import { knownWrong } from '../../bench/mislead/known-wrong.ts';
import { fine, outcomes } from '../../bench/mislead/outcomes.ts';
import { wrongPropensities } from '../../bench/mislead/wrong-propensities.ts';
import { random } from '../../src/math/random.ts';

const SETS = 4;
const worlds = [...wrongPropensities, ...knownWrong, ...outcomes, ...fine];

/** What must be said of each process that misleads; a verdict that stays supported claims no interval that is off. */
const BECAUSE: Readonly<Record<string, readonly [verdict: string, code: string]>> = {
  'propensities by state': ['refused', 'propensities-contradicted'],
  'propensities everywhere': ['refused', 'propensities-contradicted'],
  'propensities of one turn': ['refused', 'propensities-contradicted'],
  'propensities by task': ['refused', 'propensities-contradicted'],
  'raw log-probabilities': ['refused', 'known-fault'],
  'rewards counted twice': ['weak', 'known-fault'],
  'copies under other names': ['refused', 'known-fault'],
  'failures unscored': ['weak', 'missing-returns'],
  'successes cut short': ['weak', 'cut-short'],
  'rules chosen on these logs': ['weak', 'rules-name-tasks'],
};

describe('logs that mislead are not supported', () => {
  test.each(Object.entries(BECAUSE))('%s: %s', async (name, [verdict, code]) => {
    const world = worlds.find((w) => w.name === name)!;
    for (let k = 0; k < SETS; k++) {
      const found = await judge(world, world.draw(random(7, `${name} ${k}`)));
      expect(found.verdict === verdict || found.verdict === 'refused', `${name} ${k}: ${found.verdict}`).toBe(
        true,
      );
      expect(found.reasons).toContain(code);
      expect(found.claims).toEqual([]);
    }
  });

  test('rare failures: the doubly robust intervals claim nothing', async () => {
    const world = worlds.find((w) => w.name === 'rare failures')!;
    for (let k = 0; k < SETS; k++) {
      const { claims } = await judge(world, world.draw(random(7, `rare ${k}`)));
      expect(claims.map((c) => c.estimator).filter((name) => /DR/.test(name))).toEqual([]);
    }
  });
});

describe('logs that are fine are supported', () => {
  test.each(fine.map((w) => [w.name, w] as const))('%s', async (name, world) => {
    let supported = 0;
    for (let k = 0; k < SETS; k++)
      if ((await judge(world, world.draw(random(7, `${name} ${k}`)))).verdict === 'supported') supported++;
    expect(supported).toBe(SETS);
  });
});
