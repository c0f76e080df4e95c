/*
 * Input that no reweighting can be right on, from log files to the verdict: refused by name, with the same words
 * where the store is loaded and where it is scanned.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import {
  candidate,
  folder,
  type LoggedEpisode,
  logs,
  made,
  once,
  reasons,
  refusal,
  scored,
  scores,
  turnsOf,
} from '../helpers/two-coins.ts';

test('the same logs without a fault are supported, by file and by scores', async () => {
  expect(await reasons({})).toEqual([]);
  expect(await reasons({ scores })).toEqual([]);
});

test.each([
  ['behaviour_log_propensity', undefined],
  ['behaviour_logprob', scores],
])('propensity 0 on a logged action: %s', async (column, lines) => {
  const said = await refusal({
    ...(lines ? { scores: lines } : {}),
    planted: `UPDATE turns SET ${column} = '-inf'::DOUBLE WHERE episode IN (7, 9) AND turn = 1`,
  });
  expect(said).toBe(
    `episode run-7 turn 1, column ${column}: says the logged action had probability 0, got −∞, expected a finite log-probability`,
  );
});

test('… in a log file: the record is rejected, by line and column', async () => {
  const { said } = await made({ episodes: turnsOf(once('behaviour_log_propensity', '-1e999')) });
  expect(said[0]!.out).toMatch(/319 episodes, 638 turns, 1 reject/);
  expect(said[0]!.out).toMatch(
    /rejected line 8, byte \d+: turns\[1\]\.behaviour_log_propensity: expected number, received -Infinity/,
  );
});

test('… in a declared behaviour', async () => {
  const path = join(folder, 'never-a.json');
  const rules = [{ when: { turn: 0 }, probabilities: { a: 0.5, b: 0.5 } }, { probabilities: { b: 1 } }];
  writeFileSync(path, JSON.stringify({ policy: 'never a', trained_on: 'none', rules }));
  expect(await refusal({}, '--behaviour', path)).toMatch(
    /^declared behaviour, episode run-0 turn 1: gives the logged action "a" probability 0, expected a probability above 0/,
  );
});

test.each([
  ['behaviour_log_propensity', undefined],
  ['behaviour_logprob', scores],
])('a propensity above 1: %s', async (column, lines) => {
  const input = { episodes: turnsOf(once(column, 0.4)), ...(lines ? { scores: lines } : {}) };
  expect(await refusal(input)).toBe(
    `episode run-7 turn 1, column ${column}: is positive on 1 of 640 turns, got 0.4, expected natural logarithms of probabilities, at most 0`,
  );
  const { said } = await made(input);
  expect(said[0]!.err).toMatch(/warning: 1 log-probability is above 0, and no probability exceeds 1/);
});

test('… under the target', async () => {
  const lines = scored((s) => (s.episode_id === 'run-7' && s.turn === 1 ? { ...s, logprob: 0.3 } : s));
  expect(await refusal({ scores: lines })).toMatch(
    /^episode run-7 turn 1, column logprob: is positive on 1 of 640 turns, got 0\.3/,
  );
  expect((await made({ scores: lines })).said[1]!.err).toMatch(/1 log-probability is above 0/);
});

test('… of one token, which the sum over the turn would hide', async () => {
  const tokens = (e: LoggedEpisode, first: number): EpisodeInput => ({
    ...e,
    turns: e.turns.map(({ behaviour_logprob: _, behaviour_log_propensity: __, ...x }) => x),
    segments: [
      {
        token_ids: [1, 2, 3, 4],
        action_mask: [true, true, true, true],
        behaviour_logprobs: [-1, -2, first, -2],
        token_turn: [0, 0, 1, 1],
      },
    ],
  });
  const bySegment = (first: (run: string) => number) =>
    logs.map(({ episode_id }) => ({
      policy: 'cand',
      trained_on: 'none',
      episode_id,
      segment: 0,
      logprobs: [-1.5, -2, first(episode_id), -2],
      logprob_kind: 'raw',
    }));
  const at = (run: string) => (run === 'run-7' ? 0.5 : -1);
  const behaviour = await refusal({
    episodes: logs.map((e) => tokens(e, at(e.episode_id))),
    scores: bySegment(() => -1),
  });
  expect(behaviour).toMatch(/^episode run-7 turn 1, column behaviour_logprob: is positive on 1 .*got 0\.5/);
  const target = await refusal({ episodes: logs.map((e) => tokens(e, -1)), scores: bySegment(at) });
  expect(target).toMatch(/^episode run-7 turn 1, column logprob: is positive on 1 of 640 turns, got 0\.5/);
});

test('probabilities where their logarithms belong', async () => {
  const as = (column: string) => turnsOf((x) => ({ ...x, [column]: Math.exp(x[column] as number) }));
  expect(await refusal({ episodes: as('behaviour_log_propensity') })).toBe(
    'episode run-0 turn 0, column behaviour_log_propensity: holds probabilities, not their logarithms: every value lies in [0, 1], got 0.5, expected natural logarithms of probabilities, at most 0',
  );
  const lines = scored((s) => ({ ...s, logprob: Math.exp(s.logprob as number) }));
  expect(await refusal({ scores: lines })).toMatch(
    /column logprob: holds probabilities, not their logarithms/,
  );
});

test('log-probabilities, or more than 1, where probabilities belong: target and behaviour files', async () => {
  const withRule = (probabilities: object) => ({ ...candidate, rules: [{ probabilities }] });
  const logarithms = withRule({ a: -0.7, b: -0.7 });
  const told =
    /rules\[0\]\.probabilities\.a: is negative, got -0\.7, expected a probability, not its logarithm/;
  expect(await refusal({ file: logarithms })).toMatch(told);
  const above = withRule({ a: 1.2, b: 0 });
  expect(await refusal({ file: above })).toMatch(
    /probabilities\.a: is above 1, got 1\.2, expected a probability/,
  );
  for (const [name, file] of Object.entries({ logarithms, above })) {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(file));
    expect(await refusal({}, '--behaviour', path)).toMatch(name === 'above' ? /is above 1, got 1\.2/ : told);
  }
});

test('conventions that differ: raw against processed, a class against the whole action', async () => {
  const processed = scored((s) => ({ ...s, logprob_kind: 'processed' }));
  expect(await refusal({ scores: processed })).toMatch(
    /^target "cand": its log-probabilities and the behaviour’s are not of the same kind, got behaviour raw, target processed/,
  );
  const mixed = turnsOf((x, _, t) => ({ ...x, logprob_kind: t === 0 ? 'raw' : 'processed' }));
  expect(await refusal({ episodes: mixed, scores })).toMatch(/got behaviour raw and processed, target raw/);
  const classes = scored(({ logprob, logprob_kind: _, ...s }) => ({ ...s, log_propensity: logprob }));
  const whole = turnsOf(({ behaviour_log_propensity: _, ...x }) => x);
  expect(await refusal({ episodes: whole, scores: classes })).toMatch(
    /^target "cand": the scores hold log_propensity, the logs hold behaviour_logprob, expected the same measure/,
  );
  expect(await reasons({ scores: scored(({ logprob_kind: _, ...s }) => s) })).toEqual([
    'weak logprob-kind-unknown',
  ]);
});

test('a target that covers only some turns: scores, rules, the features they look at, classes', async () => {
  expect(await refusal({ scores: scored((s) => (s.episode_id === 'run-7' ? null : s)) })).toMatch(
    /^target "cand": covers only some turns, got logprob on 99\.7 %, expected logprob on every turn/,
  );
  const rules = [{ when: { turn: 0 }, probabilities: { a: 1 } }];
  expect(await refusal({ file: { ...candidate, rules } })).toMatch(
    /^target "cand": no rule covers episode run-0 turn 1: the target covers only some turns/,
  );
  const looks = {
    ...candidate,
    rules: [{ when: { 'features.0': 0 }, probabilities: { a: 1 } }, ...candidate.rules],
  };
  expect(await refusal({ file: looks, episodes: turnsOf(once('features', null)) })).toMatch(
    /^target "cand": its rules look at features\.0, which episode run-7 turn 1 does not have/,
  );
  expect(await refusal({ episodes: turnsOf(once('action_class', null)) })).toMatch(
    /^episode run-7 turn 1, column action_class: is missing, so target "cand" gives its action no probability/,
  );
});
