import { expect, test } from 'vitest';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { TurnwiseError } from '../../src/schema/error.ts';
import type { Store } from '../../src/store/store.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { logRatiosFromScores } from '../../src/weights/from-scores.ts';
import { scoredPolicies } from '../../src/weights/scores.ts';
import { withTokenLogprobs } from '../../src/weights/token-sums.ts';
import { plant, storeOf } from '../helpers/store.ts';

const turn = {
  behaviour_logprob: -4,
  behaviour_log_propensity: -1,
  action_class: 'a',
  logprob_kind: 'raw' as const,
};
const episodes: EpisodeInput[] = ['A', 'A', 'B'].map((task_id, i) => ({
  episode_id: `e${i}`,
  task_id,
  reward: i,
  turns: [turn, { ...turn, behaviour_logprob: -5, behaviour_log_propensity: -2 }],
}));

/** A score per turn; `columns` gives "logprob, log_propensity, logprob_kind" of episode e turn k as SQL. */
const score = (store: Store, policy: string, columns: string, where = 'true', trained = '"none"') =>
  plant(
    store,
    `INSERT INTO scores (policy, source, trained_on, episode, turn, logprob, log_propensity, logprob_kind)
     SELECT '${policy}', 0, '${trained}', episode, turn, ${columns} FROM turns WHERE ${where}`,
  );

async function withStore<T>(body: (store: Store) => Promise<T>, input = episodes): Promise<T> {
  const store = await storeOf(input);
  try {
    await plant(
      store,
      `INSERT INTO sources (source, path, sha256, format, bytes, episodes, turns, rejects, ingested_at)
       VALUES (0, 'log.jsonl', 'aa', 'canonical', 1, 3, 6, 0, now())`,
    );
    return await body(store);
  } finally {
    store.close();
  }
}
const ratios = async (store: Store, policy: string) =>
  logRatiosFromScores(store, await withTokenLogprobs(store, await loadTrajectories(store)), policy);
const failed = async (work: Promise<unknown>): Promise<TurnwiseError> =>
  work.then(
    () => {
      throw new Error('was accepted');
    },
    (e) => e as TurnwiseError,
  );

test('target minus behaviour, over whole actions where both have them', () =>
  withStore(async (store) => {
    await score(store, 'new', `-3.0 - turn, -0.5, 'raw'`);
    const r = await ratios(store, 'new');
    expect(r.measure).toBe('logprob');
    expect([...r.values]).toEqual([1, 1, 1, 1, 1, 1]);
    expect(r).toMatchObject({ target: 'new', trainedOn: 'none', table: null, warnings: [] });
  }));

test('over classes where only those are scored', () =>
  withStore(async (store) => {
    await score(store, 'new', `NULL, -0.5, NULL`);
    const r = await ratios(store, 'new');
    expect(r.measure).toBe('log_propensity');
    expect([...r.values]).toEqual([0.5, 1.5, 0.5, 1.5, 0.5, 1.5]);
  }));

test('an unknown name lists what there is, exit code 2', () =>
  withStore(async (store) => {
    await score(store, 'new', `-3.0, NULL, 'raw'`);
    await score(store, 'newer', `-3.0, NULL, 'raw'`);
    expect(await scoredPolicies(store)).toEqual(['new', 'newer']);
    const e = await failed(ratios(store, 'old'));
    expect(e.exitCode).toBe(2);
    expect(e.message).toMatch(/got "old", expected one of "new", "newer", or the path of a policy file/);
  }));

test('a target that covers only some turns is refused', () =>
  withStore(async (store) => {
    await score(store, 'new', `-3.0, NULL, 'raw'`, 'episode < 2');
    expect((await failed(ratios(store, 'new'))).message).toMatch(
      /target "new": covers only some turns, got logprob on 66\.7 %/,
    );
  }));

test('… but not of episodes it was trained on', () =>
  withStore(async (store) => {
    await score(store, 'new', `-3.0, NULL, 'raw'`, 'episode = 2', '{"tasks": ["A"], "sources": []}');
    const r = await ratios(store, 'new');
    expect([...r.trajectories.index]).toEqual([2]);
    expect(r.held).toEqual({ episodes: 2, tasks: 1, known: true });
  }));

test('a source by its content', () =>
  withStore(async (store) => {
    await score(store, 'new', `-3.0, NULL, 'raw'`, 'true', '{"sources": ["aa"]}');
    expect((await ratios(store, 'new')).trajectories.index).toHaveLength(0);
  }));

test('raw against processed is an error; unknown a warning', () =>
  withStore(async (store) => {
    await score(store, 'processed', `-3.0, NULL, 'processed'`);
    await score(store, 'unsaid', `-3.0, NULL, NULL`);
    expect((await failed(ratios(store, 'processed'))).message).toMatch(
      /not of the same kind, got behaviour raw, target processed/,
    );
    expect((await ratios(store, 'unsaid')).warnings.map((w) => w.code)).toEqual(['logprob-kind-unknown']);
  }));

test('positive scores are refused', () =>
  withStore(async (store) => {
    await score(store, 'new', `0.3, NULL, 'raw'`);
    expect((await failed(ratios(store, 'new'))).message).toMatch(
      /column logprob: holds probabilities, not their logarithms/,
    );
  }));

test('a turn scored twice is refused', () =>
  withStore(async (store) => {
    await score(store, 'new', `-3.0, NULL, 'raw'`);
    await score(store, 'new', `-3.0, NULL, 'raw'`, 'episode = 1');
    expect((await failed(ratios(store, 'new'))).message).toMatch(/episode e1 turn 0 is scored twice/);
  }));

test('without the behaviour the logs are refused before the name is looked at', () =>
  withStore(
    async (store) => {
      const e = await failed(ratios(store, 'no such policy'));
      expect(e.exitCode).toBe(3);
      expect(e.message).toMatch(/behaviour policy’s log-probabilities/);
    },
    episodes.map((e) => ({ ...e, turns: [{ action_class: 'a' }] })),
  ));

test('token scores sum over the action tokens of a turn, for both policies', () =>
  withStore(
    async (store) => {
      await plant(
        store,
        `INSERT INTO scores (policy, source, trained_on, episode, segment, piece, logprobs, logprob_kind)
         SELECT 'new', 0, '"none"', episode, segment, piece, [NULL, -0.5, -0.25, NULL, -1.0], 'raw' FROM segments`,
      );
      const r = await ratios(store, 'new');
      expect(r.measure).toBe('logprob');
      expect([...r.values]).toEqual([-0.75 - -3, -1 - -4]);
    },
    [
      {
        episode_id: 'e',
        reward: 1,
        turns: [{ logprob_kind: 'raw' }, { logprob_kind: 'raw' }],
        segments: [
          {
            token_ids: [1, 2, 3, 4, 5],
            action_mask: [false, true, true, false, true],
            behaviour_logprobs: [null, -1, -2, null, -4],
            token_turn: [0, 0, 0, 1, 1],
          },
        ],
      },
    ],
  ));

test('scores of the other measure are not "some turns"', () =>
  withStore(
    async (store) => {
      await score(store, 'new', `-3.0, NULL, 'raw'`);
      const { message } = await failed(ratios(store, 'new'));
      expect(message).toMatch(/the scores hold logprob, the logs hold behaviour_log_propensity/);
      expect(message).toMatch(/Score the class of the action \(log_propensity\), or log behaviour_logprob/);
      expect(message).not.toMatch(/0 %/);
    },
    episodes.map((e) => ({ ...e, turns: e.turns.map((x) => ({ ...x, behaviour_logprob: null })) })),
  ));

test('a policy that acted is compared, a path that is none is no file', () =>
  withStore(
    async (store) => {
      expect((await failed(ratios(store, 'agent'))).message).toMatch(
        /acted in these logs.*turnwise compare/s,
      );
      expect((await failed(ratios(store, 'gone.json'))).message).toMatch(/no such file/);
      expect((await failed(ratios(store, 'gone'))).message).toMatch(/neither a policy with recorded scores/);
    },
    episodes.map((e) => ({ ...e, policy: 'agent' })),
  ));
