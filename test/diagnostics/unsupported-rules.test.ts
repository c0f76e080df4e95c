import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { unsupportedRules } from '../../src/diagnostics/unsupported-rules.ts';
import { behaviourFromPolicyFile } from '../../src/policy/behaviour-table.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { withDeclaredBehaviour } from '../../src/weights/declared-behaviour.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf, uniform } from '../helpers/agent-turns.ts';

const CLASSES = ['search', 'refund', 'reply'] as const;

/** Rollouts of eight turns that take the three classes evenly, but never `action` in the planted region. */
function planted(
  seed: number,
  region: (turn: number, last: string | null, x: number) => boolean,
  action = 'refund',
): EpisodeInput[] {
  const u = uniform(seed);
  return Array.from({ length: 120 }, (_, i) => {
    let last: string | null = null;
    return {
      episode_id: `e${i}`,
      task_id: `t${i % 30}`,
      reward: 1,
      turns: Array.from({ length: 8 }, (_, turn) => {
        const x = Math.floor(4 * u());
        const allowed = CLASSES.filter((c) => !(c === action && region(turn, last, x)));
        const action_class: string = allowed[Math.floor(u() * allowed.length)]!;
        last = action_class;
        return {
          action_class,
          behaviour_log_propensity: -Math.log(allowed.length),
          features: [x, Math.round(1000 * u()) / 1000],
        };
      }),
    };
  });
}
const even = { search: 1 / 3, refund: 1 / 3, reply: 1 / 3 };
const file = (rules: object[]) => checkPolicyFile({ policy: 'p', trained_on: 'none', rules });
function rulesOf(episodes: EpisodeInput[], target: object[], behaviour: object[] | null) {
  const t = trajectoriesOf(episodes);
  const ratios = logRatiosFromPolicyFile(t, file(target));
  const known =
    behaviour === null ? ratios : withDeclaredBehaviour(ratios, behaviourFromPolicyFile(t, file(behaviour)));
  return unsupportedRules(known, episodeWeights(known))!;
}
const half = { search: 0.5, reply: 0.5 };

test.prop([fc.integer({ min: 1, max: 500 }), fc.integer({ min: 2, max: 6 })], { numRuns: 8 })(
  'a planted region of two conditions is recovered exactly',
  (seed, turn) => {
    const episodes = planted(seed, (k, last) => k >= turn && last === 'refund');
    const behaviour = [
      {
        when: { turn: [0, 1, 2, 3, 4, 5, 6, 7].filter((k) => k >= turn), last_action_class: 'refund' },
        probabilities: half,
      },
      { probabilities: even },
    ];
    const rules = rulesOf(episodes, [{ probabilities: even }], behaviour);
    const inside = episodes.flatMap((e) =>
      e.turns!.filter((_, k) => k >= turn && e.turns![k - 1]!.action_class === 'refund'),
    );
    expect(rules).toHaveLength(1);
    expect(rules[0]).toMatchObject({
      rule: `turn ≥ ${turn} and last_action_class = refund: 0 of ${inside.length} logged turns take refund`,
      taken: 0,
      turns: inside.length,
      purity: 1,
    });
    expect(rules[0]!.share).toBeCloseTo(1, 12);
  },
);

test('two planted regions, found one after the other; from the cells of the target alone', () => {
  const region = (k: number, _: string | null, x: number) => x === 2 || k === 0;
  const rules = rulesOf(
    planted(3, region),
    [
      ...[0, 1, 2, 3].map((x) => ({ when: { turn: 0, 'features.0': x }, probabilities: even })),
      ...[0, 1, 2, 3].map((x) => ({ when: { 'features.0': x }, probabilities: even })),
    ],
    null,
  );
  expect(rules.map((r) => r.conditions.join(' and ')).sort()).toEqual(['features.0 = 2', 'turn ≤ 0']);
  for (const r of rules) expect(r).toMatchObject({ actionClass: 'refund', taken: 0, purity: 1 });
});

test('a class that no log shows: anywhere', () => {
  const [rule] = rulesOf(
    planted(1, () => false),
    [{ probabilities: { escalate: 1 } }],
    null,
  );
  expect(rule!.rule).toBe('anywhere: 0 of 960 logged turns take escalate');
});

test('a threshold of a feature with many values', () => {
  const region = (v: number) => v >= 0.7;
  const u = uniform(9);
  const episodes: EpisodeInput[] = Array.from({ length: 1000 }, (_, i) => {
    const v = Math.round(1000 * u()) / 1000;
    const allowed = region(v) ? ['search', 'reply'] : CLASSES;
    return {
      episode_id: `e${i}`,
      reward: 1,
      turns: [
        {
          action_class: allowed[Math.floor(u() * allowed.length)]!,
          behaviour_log_propensity: -Math.log(allowed.length),
          features: [v],
        },
      ],
    };
  });
  const t = trajectoriesOf(episodes);
  const ratios = logRatiosFromPolicyFile(t, file([{ probabilities: even }]));
  const C = t.turns.actionClass.values.length;
  const refund = t.turns.actionClass.values.indexOf('refund');
  const probabilities = new Float64Array(1000 * C);
  episodes.forEach((e, s) => {
    const inside = region(e.turns![0]!.features![0]!);
    for (let a = 0; a < C; a++) probabilities[s * C + a] = inside ? (a === refund ? 0 : 0.5) : 1 / 3;
  });
  const behaviour = { source: 'declared', classes: t.turns.actionClass.values, probabilities } as const;
  const rules = unsupportedRules({ ...ratios, behaviour }, episodeWeights(ratios))!;
  expect(rules[0]!.conditions[0]).toMatch(/^features\.0 ≥ 0\.(69|7|70)/);
  expect(rules[0]!.share).toBeGreaterThan(0.9);
});

test('no rule where everything is supported, and none from recorded scores', () => {
  const episodes = planted(2, () => false);
  expect(rulesOf(episodes, [{ probabilities: even }], [{ probabilities: even }])).toEqual([]);
  const ratios = logRatiosFromPolicyFile(trajectoriesOf(episodes), file([{ probabilities: even }]));
  expect(unsupportedRules({ ...ratios, table: null }, episodeWeights(ratios))).toBeNull();
});

test('the same logs in another order give the same rules', () => {
  const episodes = planted(4, (k, last) => k >= 3 && last === 'reply');
  const behaviour = [
    { when: { turn: [3, 4, 5, 6, 7], last_action_class: 'reply' }, probabilities: half },
    { probabilities: even },
  ];
  const one = rulesOf(episodes, [{ probabilities: even }], behaviour);
  const other = rulesOf([...episodes].reverse(), [{ probabilities: even }], behaviour);
  expect(other.map((r) => r.rule)).toEqual(one.map((r) => r.rule));
});
