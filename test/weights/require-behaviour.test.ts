import { expect, test } from 'vitest';
import type { TurnwiseError } from '../../src/schema/error.ts';
import { behaviourCoverage } from '../../src/weights/behaviour-coverage.ts';
import { loggedMeasures, requireBehaviour } from '../../src/weights/require-behaviour.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

const make = (turns: object[][], sources: number[]) => {
  const t = trajectoriesOf(
    turns.map((list, i) => ({ episode_id: `e${i}`, reward: 1, task_id: i === 0 ? null : 'T', turns: list })),
  );
  return { ...t, episodes: { ...t.episodes, source: Int32Array.from(sources) } };
};
const both = { behaviour_log_propensity: -1, behaviour_logprob: -7, action_class: 'a' };
const propensity = { behaviour_log_propensity: -1, action_class: 'a' };

test('measures that are there on every turn', () => {
  const measures = (t: ReturnType<typeof make>) => loggedMeasures(t).map((m) => m.measure);
  expect(measures(make([[both, both]], [0]))).toEqual(['logprob', 'log_propensity']);
  expect(measures(make([[both, propensity]], [0]))).toEqual(['log_propensity']);
  expect(measures(make([[{}, propensity]], [0]))).toEqual([]);
  expect(measures(make([[]], [0]))).toEqual([]);
});

test('a source without any is left out, with a warning', () => {
  const [found] = loggedMeasures(make([[propensity], [{}], [{}, {}]], [0, 1, 1]));
  expect([...found!.trajectories.index]).toEqual([0]);
  expect(found!.warnings[0]).toMatchObject({ code: 'source-without-behaviour', count: 2 });
});

test('without them: exit code 3, what to log next time, and the shares', () => {
  let error: TurnwiseError | undefined;
  try {
    requireBehaviour(
      make(
        [
          [propensity, {}],
          [{ action_class: 'b' }, {}],
        ],
        [0, 0],
      ),
    );
  } catch (e) {
    error = e as TurnwiseError;
  }
  expect(error?.exitCode).toBe(3);
  expect(error?.message).toMatch(
    /Log behaviour_log_propensity on every turn \(now on 25 % of turns\) together with the declared action_class \(now on 50 % of turns\)/,
  );
  expect(error?.message).toMatch(/behaviour_logprob on every turn \(now on 0 % of turns\)/);
  expect(error?.message).toMatch(/task_id \(now on 50 % of episodes\)/);
});

test('shares', () => {
  const c = behaviourCoverage(
    make([[both, {}], [{ sampling: { temperature: 1 }, logprob_kind: 'raw', version: 'v1' }]], [0, 0]),
  );
  expect(c).toEqual({
    episodes: 2,
    turns: 3,
    behaviourLogPropensity: 1 / 3,
    behaviourLogprob: 1 / 3,
    actionClass: 1 / 3,
    sampling: 1 / 3,
    logprobKind: 1 / 3,
    version: 1 / 3,
    task: 1 / 2,
  });
});
