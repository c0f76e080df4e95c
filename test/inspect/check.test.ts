import { afterEach, describe, expect, test } from 'vitest';
import { check } from '../../src/inspect/check.ts';
import { CALL_RULES } from '../../src/inspect/check-calls.ts';
import { EPISODE_RULES } from '../../src/inspect/check-episodes.ts';
import { STRUCTURE_RULES } from '../../src/inspect/check-structure.ts';
import { checkTokens } from '../../src/inspect/check-tokens.ts';
import { TURN_RULES } from '../../src/inspect/check-turns.ts';
import { runRule } from '../../src/inspect/rule.ts';
import { Check, type Finding } from '../../src/schema/check.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import type { Store } from '../../src/store/store.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

interface Planted {
  readonly episodes: readonly EpisodeInput[];
  readonly sql?: string;
  readonly fenced?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
async function checked({ episodes }: { readonly episodes: readonly EpisodeInput[] }): Promise<Check> {
  const store = await storeOf(episodes);
  opened.push(store);
  return Check.parse(await check(store));
}

const found = (c: Check, code: string): Finding | undefined => c.findings.find((f) => f.code === code);

type TurnInput = EpisodeInput['turns'][number];
type SegmentInput = NonNullable<EpisodeInput['segments']>[number];

/** A clean episode with tokens: turn 0 samples tokens 2 and 3, turn 1 samples tokens 5 and 6. */
const turn = (k: number, more: Partial<TurnInput> = {}): TurnInput => ({
  segment: 0,
  observation: `o${k}`,
  action: `a${k}`,
  behaviour_logprob: -1.5,
  n_action_tokens: 2,
  logprob_kind: 'processed',
  sampling: { temperature: 1, top_p: 1, top_k: null },
  ...more,
});
const segment: SegmentInput = {
  token_ids: [10, 11, 12, 13, 14, 15, 16],
  action_mask: [0, 0, 1, 1, 0, 1, 1],
  behaviour_logprobs: [null, null, -1, -0.5, null, -0.25, -1.25],
  versions: [null, null, 1, 1, null, 1, 2],
  token_turn: [null, null, 0, 0, null, 1, 1],
};
let next = 0;
const episode = (more: Partial<EpisodeInput> = {}): EpisodeInput => ({
  episode_id: `e${next++}`,
  task_id: 't',
  policy: 'p',
  reward: 1,
  turns: [turn(0), turn(1)],
  segments: [segment],
  ...more,
});
const tokens = (more: Partial<SegmentInput>): EpisodeInput =>
  episode({ segments: [{ ...segment, ...more }] });
/** Ten episodes, to give a column enough values. */
const ten = (of: (i: number) => Partial<EpisodeInput>): EpisodeInput[] =>
  Array.from({ length: 10 }, (_, i) => episode(of(i)));
/** Scores of (episode, turn, segment) by policy p. */
const score = (...rows: readonly string[]): string =>
  `INSERT INTO scores (policy, source, trained_on, episode, turn, segment) VALUES ${rows.map((r) => `('p', 0, '"none"', ${r})`).join(', ')}`;
const long = (n: number): string => 'word '.repeat(Math.ceil(n / 5));

describe('clean stores', () => {
  test('simulated episodes: no error, no warning', async () => {
    const c = await checked({ episodes: [...simulateToolAgent({ tasks: 50, episodes: 1000, seed: 4 })] });
    expect(c.findings.filter((f) => f.severity !== 'note')).toEqual([]);
    expect([c.errors, c.warnings, c.episodes]).toEqual([0, 0, 1000]);
  });

  test('episodes with tokens: nothing at all', async () => {
    expect((await checked({ episodes: [episode(), episode()] })).findings).toEqual([]);
  });

  test('an empty store: nothing at all', async () => {
    expect((await checked({ episodes: [] })).findings).toEqual([]);
  });
});

/** code, severity, where, what to plant (with SQL, no clean episode is added), what must be told. */
const faults: readonly [
  code: string,
  severity: Finding['severity'],
  column: string,
  planted: Planted,
  expected: {
    count: number;
    turn?: number | null;
    segment?: number | null;
    value?: RegExp;
    orphan?: boolean;
  },
][] = [
  [
    'no-turns',
    'warning',
    'episodes.n_turns',
    { episodes: [episode({ turns: [], segments: [] })] },
    { count: 1 },
  ],
  [
    'turn-count',
    'error',
    'episodes.n_turns',
    { episodes: [episode()], sql: 'UPDATE episodes SET n_turns = 3' },
    { count: 1, value: /3 for 2/ },
  ],
  [
    'agent-exception',
    'warning',
    'episodes.meta',
    {
      episodes: [
        episode({ meta: { exception: { exception_type: 'NonZeroAgentExitCodeError' } } }),
        episode({ meta: { exception: { exception_type: 'X' } }, ending: 'aborted', reward: null }),
        episode({ meta: { exception: { exception_type: 'AgentTimeoutError' } }, ending: 'limit' }),
        episode({ meta: { exception: null } }),
      ],
    },
    { count: 1, value: /^NonZeroAgentExitCodeError$/ },
  ],
  [
    'episode-repeated',
    'error',
    'episodes.episode_id',
    {
      episodes: [episode(), episode()],
      sql: 'UPDATE episodes SET episode = 0, episode_id = (SELECT min(episode_id) FROM episodes)',
    },
    { count: 2, value: /number 0/ },
  ],
  [
    'turn-without-episode',
    'error',
    'turns.episode',
    {
      episodes: [episode()],
      sql: 'INSERT INTO turns (episode, turn) VALUES (9000000000000000000, 0), (7, 2147483647)',
    },
    { count: 2, turn: 2147483647, value: /episode number 7/, orphan: true },
  ],
  [
    'turn-repeated',
    'error',
    'turns.turn',
    { episodes: [episode()], sql: 'INSERT INTO turns SELECT * FROM turns WHERE turn = 1' },
    { count: 1, turn: 1, value: /turn 1 again/ },
  ],
  [
    'turn-order',
    'error',
    'turns.turn',
    {
      episodes: [episode(), episode()],
      sql: 'INSERT INTO turns SELECT * FROM turns WHERE turn = 0 AND episode = 0',
    },
    { count: 1, turn: 0, value: /after turn 1 of a later episode/ },
  ],
  [
    'turn-repeated',
    'error',
    'turns.turn',
    {
      // Twice more, and not beside the first.
      episodes: [episode(), episode()],
      sql: `INSERT INTO turns SELECT turns.* FROM turns, range(2) WHERE turn = 0 AND episode = 0`,
    },
    { count: 2, turn: 0, value: /turn 0 again/ },
  ],
  [
    'segment-without-episode',
    'error',
    'segments.episode',
    { episodes: [episode()], sql: 'UPDATE segments SET episode = 4' },
    { count: 1, segment: 0, value: /number 4/, orphan: true },
  ],
  [
    'segment-missing',
    'warning',
    'turns.segment',
    { episodes: [episode({ turns: [turn(0), turn(1, { segment: 3 })] })] },
    { count: 1, turn: 1, value: /segment 3/ },
  ],
  [
    'segment-broken',
    'error',
    'segments.piece',
    { episodes: [episode()], sql: 'UPDATE segments SET piece = 1' },
    { count: 1, segment: 0, value: /1 pieces, numbered 1 to 1/ },
  ],
  [
    'score-without-episode',
    'error',
    'scores.episode',
    { episodes: [episode()], sql: score('5, 0, NULL') },
    { count: 1, turn: 0, value: /number 5/, orphan: true },
  ],
  [
    'score-of-nothing',
    'error',
    'scores.turn',
    {
      episodes: [episode()],
      sql: score('0, 0, NULL', '0, 8, NULL', '0, NULL, 0', '0, NULL, 2', '0, NULL, NULL'),
    },
    { count: 3, value: /p: neither/ },
  ],
  [
    'turn-gap',
    'note',
    'turns.turn',
    { episodes: [episode({ turns: [turn(0), turn(1, { turn: 4 })], segments: [] })] },
    { count: 1, value: /last 4/ },
  ],
  [
    'missing-task',
    'warning',
    'episodes.task_id',
    { episodes: [episode({ task_id: null }), episode()] },
    { count: 1 },
  ],
  ['reward-missing', 'note', 'episodes.reward', { episodes: [episode({ reward: null })] }, { count: 1 }],
  [
    'reward-on-aborted',
    'warning',
    'episodes.reward',
    { episodes: [episode({ ending: 'aborted' })] },
    { count: 1, value: /^1(\.0)?$/ },
  ],
  [
    'reward-on-aborted',
    'warning',
    'episodes.reward',
    { episodes: [episode({ ending: 'aborted', reward: null, turns: [turn(0, { reward: 0.5 }), turn(1)] })] },
    { count: 1, value: /0\.5/ },
  ],
  [
    'reward-twice',
    'warning',
    'episodes.reward',
    { episodes: [episode({ turns: [turn(0, { reward: 0 }), turn(1, { reward: 1 })] })] },
    { count: 1 },
  ],
  [
    'reward-twice',
    'warning',
    'episodes.reward',
    { episodes: [episode({ turns: [turn(0, { reward: 0.25 }), turn(1, { reward: 0.75 })] })] },
    { count: 1 },
  ],
  [
    'reward-not-finite',
    'error',
    'episodes.reward',
    { episodes: [episode()], sql: "UPDATE episodes SET reward = 'nan'::DOUBLE" },
    { count: 1, value: /nan/i },
  ],
  [
    'return-not-finite',
    'error',
    'episodes.reward',
    { episodes: [episode({ reward: 9e99, turns: [turn(0), turn(1, { reward: 2e99 })] })] },
    { count: 1 },
  ],
  [
    'turn-reward-not-finite',
    'error',
    'turns.reward',
    { episodes: [episode()], sql: "UPDATE turns SET reward = 'inf'::DOUBLE WHERE turn = 1" },
    { count: 1, turn: 1, value: /inf/ },
  ],
  [
    'time-reversed',
    'error',
    'episodes.ended_at',
    { episodes: [episode({ started_at: '2026-01-02T00:00:00Z', ended_at: '2026-01-01T00:00:00Z' })] },
    { count: 1, value: /2026-01-02/ },
  ],
  [
    'version-lag',
    'note',
    'episodes.version_end',
    { episodes: [episode({ version_start: '9', version_end: '10' })] },
    { count: 1, value: /9 to 10/ },
  ],
  [
    'version-reversed',
    'warning',
    'episodes.version_end',
    { episodes: [episode({ version_start: '10', version_end: '9' })] },
    { count: 1 },
  ],
  [
    'gold-in-meta',
    'warning',
    'episodes.meta',
    { episodes: [episode({ meta: { run: { ground_truth: 4 } } })] },
    { count: 1, value: /ground_truth/ },
  ],
  [
    'gold-in-meta',
    'warning',
    'episodes.meta',
    {
      episodes: [episode({ episode_id: 'fenced 1', meta: { note: `the "answer": ${long(50)}` } })],
      fenced: { 'fenced 1': { actions: [{ text: `the "answer": ${long(50)}` }] } },
    },
    { count: 1, value: /note/ },
  ],
  [
    'gold-in-observation',
    'warning',
    'turns.observation',
    {
      episodes: [
        episode({ episode_id: 'fenced 2', turns: [turn(0), turn(1, { observation: `so: ${long(50)}!` })] }),
      ],
      fenced: { 'fenced 2': { actions: [{ text: long(50) }] } },
    },
    { count: 1, turn: 1, value: /word/ },
  ],
  [
    'duplicate-episode',
    'note',
    'episodes.episode_id',
    {
      episodes: [
        episode(),
        ...[0, 1, 2].map(() => episode({ turns: [turn(0, { action: long(600) })], segments: [] })),
      ],
    },
    { count: 2, value: /like episode number 1/ },
  ],
  [
    'duplicate-tokens',
    'warning',
    'segments.token_ids',
    {
      episodes: [0, 1].map(() =>
        episode({
          turns: [turn(0, { n_action_tokens: 99, behaviour_logprob: null })],
          segments: [
            {
              token_ids: Array.from({ length: 100 }, (_, i) => i),
              action_mask: Array.from({ length: 100 }, (_, i) => i > 0),
            },
          ],
        }),
      ),
    },
    { count: 1 },
  ],
  [
    'duplicate-response',
    'note',
    'turns.action',
    { episodes: ten((i) => ({ task_id: `t${i % 3}`, turns: [turn(0), turn(1, { action: long(250) })] })) },
    { count: 10, turn: 1, value: /^10 times/ },
  ],
  [
    'logprob-not-finite',
    'error',
    'turns.behaviour_logprob',
    { episodes: [episode()], sql: "UPDATE turns SET behaviour_logprob = '-inf'::DOUBLE WHERE turn = 0" },
    { count: 1, turn: 0, value: /-inf/ },
  ],
  [
    'logprob-not-finite',
    'error',
    'turns.behaviour_log_propensity',
    {
      episodes: [episode()],
      sql: "UPDATE turns SET behaviour_log_propensity = 'nan'::DOUBLE WHERE turn = 0",
    },
    { count: 1, turn: 0, value: /nan/i },
  ],
  [
    'logprob-positive',
    'error',
    'turns.behaviour_logprob',
    { episodes: [episode({ turns: [turn(0, { behaviour_logprob: 1.5 }), turn(1)] })] },
    { count: 1, turn: 0, value: /1\.5/ },
  ],
  [
    'logprob-is-probability',
    'error',
    'turns.behaviour_log_propensity',
    {
      episodes: ten((i) => ({
        turns: [
          turn(0, { behaviour_log_propensity: 0.1 + i / 20 }),
          turn(1, { behaviour_log_propensity: 1 }),
        ],
      })),
    },
    { count: 20, turn: 0, value: /0\.1/ },
  ],
  [
    'logprob-not-finite',
    'error',
    'scores.logprob',
    {
      episodes: [episode()],
      sql: `INSERT INTO scores (policy, source, trained_on, episode, turn, logprob)
        VALUES ('x', 0, '"none"', 0, 0, '-inf'::DOUBLE), ('x', 0, '"none"', 0, 1, 'nan'::DOUBLE)`,
    },
    { count: 1, turn: 1, value: /nan/i },
  ],
  [
    'logprob-positive',
    'error',
    'scores.log_propensity',
    {
      episodes: [episode()],
      sql: `INSERT INTO scores (policy, source, trained_on, episode, turn, log_propensity) VALUES ('x', 0, '"none"', 0, 1, 0.5)`,
    },
    { count: 1, turn: 1 },
  ],
  [
    'logprob-constant',
    'warning',
    'turns.behaviour_logprob',
    {
      episodes: ten(() => ({
        turns: [turn(0, { behaviour_logprob: 0 }), turn(1, { behaviour_logprob: 0 })],
        segments: [],
      })),
    },
    { count: 20, value: /^-?0/ },
  ],
  [
    'propensity-constant',
    'warning',
    'turns.behaviour_log_propensity',
    {
      episodes: ten(() => ({
        turns: [0, 1].map((k) => turn(k, { behaviour_log_propensity: -1, action_class: `c${k}` })),
      })),
    },
    { count: 20, value: /^-1/ },
  ],
  [
    'propensity-uniform',
    'note',
    'turns.behaviour_log_propensity',
    {
      episodes: ten(() => ({
        turns: [0, 1].map((k) => turn(k, { behaviour_log_propensity: -Math.log(2), action_class: `c${k}` })),
      })),
    },
    { count: 20 },
  ],
  [
    'logprob-partial',
    'warning',
    'turns.behaviour_logprob',
    { episodes: [episode({ turns: [turn(0), turn(1, { behaviour_logprob: null })] })], sql: 'SELECT 1' },
    { count: 1, turn: 1 },
  ],
  [
    'logprob-partial',
    'warning',
    'turns.behaviour_log_propensity',
    { episodes: [episode({ turns: [turn(0, { behaviour_log_propensity: -1 }), turn(1)] })], sql: 'SELECT 1' },
    { count: 1, turn: 1 },
  ],
  [
    'logprob-none',
    'note',
    'turns.behaviour_logprob',
    { episodes: [episode({ turns: [0, 1].map((k) => turn(k, { behaviour_logprob: null })), segments: [] })] },
    { count: 3 },
  ],
  [
    'logprob-kind-unknown',
    'warning',
    'turns.logprob_kind',
    { episodes: [episode({ turns: [turn(0), turn(1, { logprob_kind: null })] })] },
    { count: 1, turn: 1 },
  ],
  [
    'logprob-kind-mixed',
    'warning',
    'turns.logprob_kind',
    { episodes: [episode({ turns: [turn(0), turn(1, { logprob_kind: 'raw' })] })] },
    { count: 2, value: /(raw|processed): 1 turns/ },
  ],
  [
    'logprob-raw-of-other-sampling',
    'warning',
    'turns.logprob_kind',
    {
      episodes: [
        episode({ turns: [turn(0), turn(1, { logprob_kind: 'raw', sampling: { temperature: 0.7 } })] }),
      ],
    },
    { count: 1, turn: 1, value: /temperature 0\.7/ },
  ],
  [
    'sampling-mixed',
    'warning',
    'turns.temperature',
    { episodes: [episode({ turns: [turn(0), turn(1, { sampling: { temperature: 0.5 } })] })] },
    { count: 2, value: /p: temperature/ },
  ],
  [
    'temperature-zero',
    'warning',
    'turns.temperature',
    { episodes: [episode({ turns: [turn(0), turn(1, { sampling: { temperature: 0 } })] })] },
    { count: 1, turn: 1 },
  ],
  [
    'tool-error-unknown',
    'note',
    'turns.tool_calls',
    {
      episodes: [
        episode({
          turns: [
            turn(0, { tool_calls: [{ name: 'ok', arguments: {}, error: false }] }),
            turn(1, { tool_calls: [0, 1].map(() => ({ name: 'look', arguments: 'x' })) }),
          ],
        }),
      ],
    },
    { count: 2, turn: 1, value: /look/ },
  ],
  [
    'results-orphaned',
    'warning',
    'episodes.meta',
    { episodes: [episode({ meta: { orphaned_results: 2 } }), episode({ meta: { orphaned_results: 'x' } })] },
    { count: 2, value: /2 results/ },
  ],
  [
    'calls-unread',
    'warning',
    'turns.tool_calls',
    { episodes: [episode({ turns: [turn(0), turn(1, { action: '<call>', tool_calls: null })] })] },
    { count: 1, turn: 1, value: /<call>/ },
  ],
  [
    'logprob-stand-in',
    'warning',
    'turns.behaviour_logprob',
    {
      episodes: [
        episode({ meta: { stand_in_logprob_turns: [0, 1] } }),
        episode({ meta: { stand_in_logprob_turns: 'x' } }),
      ],
    },
    { count: 2, turn: 0 },
  ],
  [
    'empty-turn',
    'note',
    'turns.action',
    { episodes: [episode({ turns: [{ observation: 'o' }], segments: [] })] },
    { count: 1, turn: 0 },
  ],
  [
    'length-mismatch',
    'error',
    'segments.token_ids',
    { episodes: [episode()], sql: 'UPDATE segments SET behaviour_logprobs = behaviour_logprobs[1:5]' },
    { count: 1, segment: 0, value: /7 tokens, arrays of 7, 5, 7, 7/ },
  ],
  [
    'logprob-not-finite',
    'error',
    'segments.behaviour_logprobs',
    {
      episodes: [episode()],
      sql: "UPDATE segments SET behaviour_logprobs = [NULL, NULL, -1, 'nan'::FLOAT, NULL, '-inf'::FLOAT, -1]",
    },
    { count: 2, segment: 0, value: /token 3: NaN/ },
  ],
  [
    'logprob-positive',
    'error',
    'segments.behaviour_logprobs',
    { episodes: [tokens({ behaviour_logprobs: [null, null, 2, -0.5, null, -0.25, -1.25] })] },
    { count: 1, segment: 0, value: /token 2: 2/ },
  ],
  [
    'logprob-is-probability',
    'error',
    'segments.behaviour_logprobs',
    {
      episodes: [
        episode({
          turns: [turn(0, { n_action_tokens: 9, behaviour_logprob: null })],
          segments: [
            {
              token_ids: [0, 1, 2, 3, 4, 5, 6, 7, 8],
              action_mask: Array(9).fill(true),
              behaviour_logprobs: [1, 0.9, 0.5, 1, 1, 1, 0.1, 1, 1],
            },
          ],
        }),
      ],
    },
    { count: 9, segment: 0 },
  ],
  [
    'logprob-zero-unsampled',
    'warning',
    'segments.behaviour_logprobs',
    { episodes: [tokens({ behaviour_logprobs: [0, 0, -1, -0.5, 0, -0.25, -1.25] })] },
    { count: 3, segment: 0, value: /3 of 3/ },
  ],
  [
    'logprob-unsampled',
    'warning',
    'segments.behaviour_logprobs',
    { episodes: [tokens({ behaviour_logprobs: [null, -3, -1, -0.5, null, -0.25, -1.25] })] },
    { count: 1, segment: 0 },
  ],
  [
    'logprob-stand-in',
    'error',
    'segments.behaviour_logprobs',
    { episodes: [tokens({ behaviour_logprobs: [null, null, -1, -0.5, null, -9999, -1e30] })] },
    { count: 2, turn: 1, segment: 0, value: /token 5: -9999/ },
  ],
  [
    'logprob-stand-in-used',
    'error',
    'turns.behaviour_logprob',
    { episodes: [episode({ turns: [turn(0), turn(1, { behaviour_logprob: -9999.4 })], segments: [] })] },
    { count: 1, turn: 1, value: /-9999.4/ },
  ],
  [
    'logprob-stand-in-used',
    'error',
    'turns.behaviour_log_propensity',
    { episodes: [episode({ turns: [turn(0, { behaviour_log_propensity: -1e308 })] })] },
    { count: 1, turn: 0, value: /-1e\+?308/ },
  ],
  [
    'logprob-zero-sampled',
    'warning',
    'turns.behaviour_logprob',
    {
      episodes: [episode({ turns: [turn(0, { behaviour_logprob: 0, n_action_tokens: 12 })], segments: [] })],
    },
    { count: 1, turn: 0, value: /over 12 tokens/ },
  ],
  [
    'logprob-zero-sampled',
    'warning',
    'segments.behaviour_logprobs',
    {
      episodes: [
        episode({
          turns: [turn(0, { n_action_tokens: 9, behaviour_logprob: null })],
          segments: [
            {
              token_ids: [0, 1, 2, 3, 4, 5, 6, 7, 8],
              action_mask: Array(9).fill(true),
              behaviour_logprobs: [0, 0, 0, -1, 0, 0, 0, 0, 0],
            },
          ],
        }),
      ],
    },
    { count: 8, value: /8 of 9/ },
  ],
  [
    'logprob-missing',
    'warning',
    'segments.behaviour_logprobs',
    { episodes: [tokens({ behaviour_logprobs: [null, null, -1, -0.5, null, null, -1.25] })] },
    { count: 1, segment: 0 },
  ],
  [
    'token-turn-unknown',
    'error',
    'segments.token_turn',
    { episodes: [tokens({ token_turn: [null, null, 0, null, null, 1, 7] })] },
    { count: 2, segment: 0, value: /token 3: no turn/ },
  ],
  [
    'token-turn-order',
    'error',
    'segments.token_turn',
    { episodes: [tokens({ token_turn: [null, null, 1, 1, null, 0, 0] })] },
    { count: 1, turn: 0, segment: 0 },
  ],
  [
    'token-turn-segment',
    'warning',
    'turns.segment',
    { episodes: [episode({ turns: [turn(0), turn(1, { segment: 3 })] })] },
    { count: 1, turn: 1, segment: 0 },
  ],
  [
    'action-token-count',
    'error',
    'turns.n_action_tokens',
    { episodes: [episode({ turns: [turn(0), turn(1, { n_action_tokens: 3 })] })] },
    { count: 1, turn: 1, value: /3, but 2/ },
  ],
  [
    'logprob-sum',
    'error',
    'turns.behaviour_logprob',
    { episodes: [episode({ turns: [turn(0), turn(1, { behaviour_logprob: -1.6 })] })] },
    { count: 1, turn: 1, value: /-1\.6, but the tokens sum to -1\.5/ },
  ],
  [
    'token-version-reversed',
    'warning',
    'segments.versions',
    { episodes: [tokens({ versions: [null, null, 2, 2, null, 1, 1] })] },
    { count: 1, segment: 0, value: /1 after 2/ },
  ],
];

describe('planted faults', () => {
  test.each(faults.map((f) => [`${f[0]} in ${f[2]}`, f] as const))('%s', async (_name, fault) => {
    const [code, severity, column, planted, expected] = fault;
    // A clean episode beside the fault must not change what is told.
    const clean = episode({ task_id: 'other', turns: [{ action: 'a', observation: 'o' }], segments: [] });
    const store = await storeOf(
      planted.sql ? planted.episodes : [...planted.episodes, clean],
      planted.fenced,
    );
    opened.push(store);
    if (planted.sql) await plant(store, planted.sql);
    const rule = [...STRUCTURE_RULES, ...EPISODE_RULES, ...TURN_RULES, ...CALL_RULES].find(
      (r) => r.code === code && r.column === column,
    );
    const finding = rule
      ? await runRule(store, rule)
      : (await checkTokens(store)).find((f) => f.code === code);
    expect(finding).toBeTruthy();
    expect(finding!.severity).toBe(severity);
    expect(finding!.examples[0]!.column).toBe(column);
    expect(finding!.count).toBe(expected.count);
    const [example] = finding!.examples;
    if (expected.orphan) expect(example!.episode).toBeNull();
    else expect(example!.episode).toMatch(/^(e\d+|fenced \d)$/);
    if (expected.turn !== undefined) expect(example!.turn).toBe(expected.turn);
    if (expected.segment !== undefined) expect(example!.segment).toBe(expected.segment);
    if (expected.value !== undefined) expect(example!.value).toMatch(expected.value);
    expect(finding!.fix).not.toBe('');
  });

  test('every check has a planted fault', async () => {
    const { checks } = await checked({ episodes: [] });
    // Rejects belong to no episode: below.
    // Ambiguous tasks: ambiguous-tasks.test.ts. Copies: copies.test.ts.
    const planted = [...new Set(faults.map((f) => f[0])), 'rejects', 'ambiguous-task', 'copied-episode'];
    expect(planted.sort()).toEqual([...checks].sort());
  });

  test('rejects, by file and place', async () => {
    const store = await storeOf([episode()]);
    opened.push(store);
    await plant(
      store,
      "INSERT INTO rejects VALUES (0, 9, 90, 'bad', ''), (0, 2, 20, 'worse', ''), (0, NULL, NULL, 'row 1: x', '')",
    );
    const finding = (await check(store)).findings.find((f) => f.code === 'rejects')!;
    expect(finding).toMatchObject({ severity: 'warning', count: 3 });
    expect(finding.examples.map((e) => [e.episode, e.column, e.value])).toEqual([
      [null, 'rejects.reason', 'source 0: row 1: x'],
      [null, 'rejects.reason', 'source 0 line 2: worse'],
      [null, 'rejects.reason', 'source 0 line 9: bad'],
    ]);
  });
});

test('turns without token_turn are summed where a segment holds one turn only', async () => {
  const alone = { ...segment, token_turn: null, versions: null };
  const ok = turn(0, { n_action_tokens: 4, behaviour_logprob: -3 });
  expect((await checked({ episodes: [episode({ turns: [ok], segments: [alone] })] })).findings).toEqual([]);
  const c = await checked({
    episodes: [episode({ turns: [{ ...ok, behaviour_logprob: -2 }], segments: [alone] })],
  });
  expect(found(c, 'logprob-sum')!.examples[0]!.value).toMatch(/-2, but the tokens sum to -3/);
  // Two turns in it: nothing can be said.
  const two = await checked({ episodes: [episode({ segments: [alone] })] });
  expect(two.findings).toEqual([]);
});

test('tokens of a fork are told, and not added to the turn a second time', async () => {
  const fork = { ...segment, token_ids: segment.token_ids.map((id) => id + 50) };
  const c = await checked({ episodes: [episode({ segments: [segment, fork] })] });
  expect(c.findings.map((f) => [f.code, f.count])).toEqual([['token-turn-segment', 2]]);
});

test('a turn with a gap among its log-probabilities is not summed', async () => {
  const gap = [null, null, -1, -0.5, null, null, -1.25];
  const c = await checked({ episodes: [tokens({ behaviour_logprobs: gap })] });
  expect(c.findings.map((f) => f.code)).toEqual(['logprob-missing']);
});

test('at most five examples are shown, in the order of the store, and all are counted', async () => {
  const c = await checked({
    episodes: Array.from({ length: 12 }, (_, i) => episode({ episode_id: `x${i}`, task_id: null })),
  });
  const finding = found(c, 'missing-task')!;
  expect(finding.count).toBe(12);
  expect(finding.examples.map((e) => e.episode)).toEqual(['x0', 'x1', 'x2', 'x3', 'x4']);
});

test('segments out of order are checked all the same', async () => {
  const store = await storeOf([episode(), episode({ turns: [turn(0), turn(1, { n_action_tokens: 9 })] })]);
  opened.push(store);
  await plant(
    store,
    'CREATE TEMP TABLE copy AS SELECT * FROM segments; DELETE FROM segments; INSERT INTO segments SELECT * FROM copy ORDER BY episode DESC',
  );
  const c = await check(store);
  expect(c.findings.map((f) => [f.code, f.count])).toEqual([['action-token-count', 1]]);
});
