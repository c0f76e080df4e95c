import { expect, test } from 'vitest';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { TurnwiseError } from '../../src/schema/error.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

const file = checkPolicyFile({
  policy: 'p',
  trained_on: 'none',
  rules: [{ when: { turn: 0 }, probabilities: { a: 0.5, b: 0.5 } }, { probabilities: { a: 1 } }],
});
const episode = (
  id: string,
  turns: [action: string | null, log: number | null][],
  more: Partial<EpisodeInput> = {},
): EpisodeInput => ({
  episode_id: id,
  reward: 1,
  turns: turns.map(([action_class, behaviour_log_propensity]) => ({
    action_class,
    behaviour_log_propensity,
  })),
  ...more,
});
const ratios = (...episodes: EpisodeInput[]) => logRatiosFromPolicyFile(trajectoriesOf(episodes), file);
const error = (...episodes: EpisodeInput[]): TurnwiseError => {
  try {
    ratios(...episodes);
  } catch (e) {
    return e as TurnwiseError;
  }
  throw new Error('was accepted');
};
const q = Math.log(0.25);

test('log π − log b by turn; −∞ where π = 0', () => {
  const r = ratios(
    episode('e', [
      ['a', q],
      ['b', q],
      ['a', Math.log(0.5)],
    ]),
  );
  expect([...r.values]).toEqual([Math.log(0.5) - q, -Infinity, Math.log(1) - Math.log(0.5)]);
  expect(r.measure).toBe('log_propensity');
});

test('probabilities where logarithms are expected are told', () => {
  expect(
    error(
      episode('e', [
        ['a', 0.25],
        ['b', 0.5],
      ]),
    ).message,
  ).toMatch(/episode e turn 0, column behaviour_log_propensity: holds probabilities, not their logarithms/);
  expect(
    error(
      episode('e', [
        ['a', -1],
        ['b', 0.5],
      ]),
    ).message,
  ).toMatch(/episode e turn 1.*is positive on 1 of 2 turns, got 0\.5/);
});

test('an action that was taken cannot have had probability 0', () => {
  const t = trajectoriesOf([episode('e', [['a', q]])]);
  t.turns.behaviourLogPropensity[0] = -Infinity;
  expect(() => logRatiosFromPolicyFile(t, file)).toThrow(
    /episode e turn 0.*says the logged action had probability 0/,
  );
});

test('a missing class is refused, by episode and turn', () => {
  expect(
    error(
      episode('e', [
        ['a', q],
        [null, Math.log(0.5)],
      ]),
    ).message,
  ).toMatch(/episode e turn 1, column action_class: is missing/);
});

test('a propensity that is missing on some turns of a source is refused with exit code 3 and shares', () => {
  const e = error(
    episode('e', [
      ['a', q],
      ['a', null],
    ]),
    episode('f', [
      ['a', q],
      ['a', q],
    ]),
  );
  expect(e.exitCode).toBe(3);
  expect(e.message).toMatch(/behaviour_log_propensity is logged on 75 % of turns/);
});

test('an aborted episode needs no weights', () => {
  const r = ratios(
    episode('e', [
      ['a', q],
      ['a', -0.1],
    ]),
    episode('x', [[null, null]], { ending: 'aborted' }),
  );
  expect([...r.values]).toEqual([expect.any(Number), expect.any(Number), Number.NaN]);
});

test('a constant propensity is an alarm, unless the logs chose evenly among the classes', () => {
  const codes = (...episodes: EpisodeInput[]) => ratios(...episodes).warnings.map((w) => w.code);
  expect(
    codes(
      episode('e', [
        ['a', 0],
        ['b', 0],
      ]),
    ),
  ).toEqual(['constant-propensity']);
  expect(
    codes(
      episode('e', [
        ['a', q],
        ['b', q],
      ]),
    ),
  ).toEqual(['constant-propensity']);
  expect(
    codes(
      episode('e', [
        ['a', -Math.LN2],
        ['b', -Math.LN2],
      ]),
    ),
  ).toEqual([]);
  expect(
    codes(
      episode('e', [
        ['a', q],
        ['b', -1],
      ]),
    ),
  ).toEqual([]);
});
