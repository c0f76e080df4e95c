import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { detailsOf } from '../../src/audit/details.ts';
import { aaCheck } from '../../src/diagnostics/aa-check.ts';
import { addTokens, tokenRatios, tokenSums, versionLag } from '../../src/diagnostics/token-ratios.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { TokenRatios } from '../../src/schema/token-ratios.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { logRatiosFromScores } from '../../src/weights/from-scores.ts';
import { withTokenLogprobs } from '../../src/weights/token-sums.ts';
import { trajectoriesOf, uniform } from '../helpers/agent-turns.ts';
import { plant, storeOf } from '../helpers/store.ts';

const chunk = (rows: readonly (readonly [turn: number, target: number, behaviour: number])[]) => ({
  rows: rows.length,
  turnRow: Int32Array.from(rows, ([s]) => s),
  target: Float64Array.from(rows, ([, p]) => p),
  behaviour: Float64Array.from(rows, ([, , b]) => b),
});
const twoEpisodes = trajectoriesOf([
  { episode_id: 'a', task_id: 'x', version_start: 'step-3', version_end: 'step-7', turns: [{}, {}] },
  { episode_id: 'b', task_id: 'y', version_start: '5', version_end: '5', turns: [{}] },
]);

test('product and geometric mean by hand', () => {
  const sums = tokenSums(twoEpisodes);
  addTokens(
    sums,
    chunk([
      [0, -1, -1.5],
      [0, -2, -2.2],
      [1, -0.5, -0.5],
      [2, -1, -0.95],
      [2, -3, Number.NaN],
    ]),
  );
  const r = tokenRatios(twoEpisodes, sums);
  expect(r).toMatchObject({ tokens: 4, uncompared: 1, impossible: 0, beyond: 2 / 4 });
  expect(r.meanAbs).toBeCloseTo(0.75 / 4, 12);
  expect(r.largest).toBeCloseTo(0.5, 12);
  expect(r.all).toMatchObject({ episodes: 2, tokens: 4 });
  expect(r.all.logProduct.q50).toBeCloseTo((0.7 - 0.05) / 2, 12);
  expect(r.all.logGeometricMean.q50).toBeCloseTo((0.7 / 3 - 0.05) / 2, 12);
  expect(r.turns.logProduct.q50).toBeCloseTo(0, 12); // of 0.7, 0 and −0.05
  expect(r.byLag.map((g) => [g.group, g.tokens])).toEqual([
    ['lag 0', 1],
    ['lag 4', 3],
  ]);
  expect(r.byTask.map((g) => g.group)).toEqual(['x', 'y']);
  expect(r.byLength.map((g) => g.group)).toEqual(['1–16 tokens']);
  expect(TokenRatios.parse(JSON.parse(JSON.stringify(r)))).toEqual(r);
});

test('lag only between numbers of one kind', () => {
  expect(versionLag('step-3', 'step-7')).toBe(4);
  expect(versionLag('12', '12.5')).toBe(0.5);
  expect(versionLag('step-3', 'ckpt-7')).toBeNull();
  expect(versionLag('main', 'main')).toBeNull();
  expect(versionLag(undefined, '1')).toBeNull();
});

test('a token that the target cannot make: the product is 0, the averages stay finite', () => {
  const sums = tokenSums(twoEpisodes);
  addTokens(
    sums,
    chunk([
      [2, -Infinity, -1],
      [0, -1, -1],
    ]),
  );
  const r = tokenRatios(twoEpisodes, sums);
  expect(r).toMatchObject({ impossible: 1, meanAbs: 0, largest: null });
  expect(r.byTask.find((g) => g.group === 'y')!.logProduct.q50).toBeNull();
  expect(aaCheck(sums)).toMatchObject({ ok: false });
  expect(aaCheck(sums).causes[0]).toMatch(/raw against processed: 1 logged tokens/);
});

const pair = fc.tuple(
  fc.integer({ min: 0, max: 2 }),
  fc.double({ min: -5, max: 0, noNaN: true }),
  fc.double({ min: -5, max: 0, noNaN: true }),
);
test.prop([fc.array(pair, { minLength: 1, maxLength: 40 }), fc.nat(40)])('chunks add up', (rows, cut) => {
  const [whole, parts] = [tokenSums(twoEpisodes), tokenSums(twoEpisodes)];
  addTokens(whole, chunk(rows));
  addTokens(parts, chunk(rows.slice(0, cut)));
  addTokens(parts, chunk(rows.slice(cut)));
  expect(parts).toEqual(whole);
});

/** 500 tokens of a behaviour, and what another scoring makes of them. */
function rescored(of: (log: number, u: () => number) => number) {
  const u = uniform(4);
  const sums = tokenSums(twoEpisodes);
  addTokens(
    sums,
    chunk(
      Array.from({ length: 500 }, () => {
        const b = Math.log(1 - u()) - 0.01;
        return [0, of(b, u), b] as const;
      }),
    ),
  );
  return aaCheck(sums);
}

test('A/A: the same numbers, or half-precision noise, pass', () => {
  expect(rescored((b) => b)).toMatchObject({
    ok: true,
    meanAbs: 0,
    beyond: 0,
    largest: 0,
    finding: null,
    causes: [],
  });
  expect(rescored((b, u) => b + 0.02 * (u() - 0.5)).ok).toBe(true);
});

test('A/A: another temperature, other tokens, noise are told apart', () => {
  const temperature = rescored((b) => 1.4 * b);
  expect(temperature).toMatchObject({ ok: false });
  expect(temperature.slope).toBeCloseTo(1.4, 9);
  expect(temperature.finding).toMatch(/log-probability mismatch/);
  expect(temperature.causes[0]).toMatch(/temperature/);
  expect(rescored((_, u) => Math.log(1 - u())).causes[0]).toMatch(/tokenisation/);
  expect(rescored((b, u) => b + 0.3 * (u() - 0.5)).causes[0]).toMatch(/engine/);
  expect(aaCheck(tokenSums(twoEpisodes))).toMatchObject({ ok: false, meanAbs: null });
});

const episodes: EpisodeInput[] = [0, 1, 2].map((i) => ({
  episode_id: `e${i}`,
  task_id: `t${i}`,
  policy: 'agent',
  reward: i,
  turns: [{ logprob_kind: 'raw' }, { logprob_kind: 'raw' }],
  segments: [
    {
      token_ids: [1, 2, 3, 4, 5],
      action_mask: [0, 1, 1, 0, 1],
      behaviour_logprobs: [null, -0.5, -0.25, null, -1],
      token_turn: [0, 0, 0, 1, 1],
    },
  ],
}));

test('from a store: masked tokens are never counted, and the target that made the logs is an A/A', async () => {
  const store = await storeOf(episodes);
  try {
    // 9 under the mask would show in every figure.
    for (const [policy, logprobs] of [
      ['agent', '[9, -0.5, -0.25, 9, -1.0]'],
      ['new', '[9, -0.3, -0.25, 9, -2.0]'],
    ])
      await plant(
        store,
        `INSERT INTO scores (policy, source, trained_on, episode, segment, piece, logprobs, logprob_kind)
         SELECT '${policy}', 0, '"none"', episode, segment, piece, ${logprobs}, 'raw' FROM segments`,
      );
    const t = await withTokenLogprobs(store, await loadTrajectories(store));
    const of = async (policy: string) =>
      (await detailsOf(store, await logRatiosFromScores(store, t, policy))).tokens!;
    const own = await of('agent');
    expect(own).toMatchObject({
      tokens: 9,
      uncompared: 0,
      meanAbs: 0,
      largest: 0,
      aa: { ok: true, tokens: 9 },
    });
    const other = await of('new');
    expect(other.aa).toBeNull();
    expect(other.tokens).toBe(9);
    expect(other.meanAbs).toBeCloseTo(1.2 / 3, 6);
    expect(other.all.logProduct.q50).toBeCloseTo(-0.8, 6);
  } finally {
    store.close();
  }
});
