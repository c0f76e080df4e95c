/*
 * The law of the fixtures exact-two-stage: two turns, binary states and actions, a known stochastic
 * behaviour. Stated here once more, so that no expected value comes from the code under test.
 */
import type { PolicyFile } from '../../src/policy/policy-file.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { fixture } from './agent-turns.ts';

export const bits = [0, 1] as const;
export const bern = (p: number, a: number): number => (a === 1 ? p : 1 - p);
/** P(a₁ = 1 | x₁), P(x₂ = 1 | x₁, a₁), P(a₂ = 1 | x₁, a₁, x₂). */
export const b1 = (x1: number): number => (1 + 2 * x1) / 4;
export const p2 = (x1: number, a1: number): number => (1 + x1 + a1) / 4;
export const b2 = (_x1: number, a1: number, x2: number): number => (1 + 2 * x2 + a1) / 5;

export interface TwoStageRow {
  readonly x1: number;
  readonly a1: number;
  readonly r1: number;
  readonly x2: number;
  readonly a2: number;
  readonly r2: number;
}

/** 320 rollouts in which every path has its probability under the law as its share. */
export function census(): TwoStageRow[] {
  const rows: TwoStageRow[] = [];
  for (const x1 of bits)
    for (const a1 of bits)
      for (const x2 of bits)
        for (const a2 of bits)
          for (const e of [-1, 1]) {
            const p = bern(b1(x1), a1) * bern(p2(x1, a1), x2) * bern(b2(x1, a1, x2), a2) * 0.25;
            const r1 = ((2 * x1 - 1) * a1) / 2;
            const r2 = x1 + a2 * (2 * x2 - 1) + (a1 * a2) / 2 + e;
            for (let i = 0; i < Math.round(320 * p); i++) rows.push({ x1, a1, r1, x2, a2, r2 });
          }
  return rows;
}

export const sample400 = (): TwoStageRow[] =>
  fixture('exact-two-stage-sample400.csv').map((line) => {
    const [, x1, a1, r1, x2, a2, r2] = line.map(Number) as number[];
    return { x1: x1!, a1: a1!, r1: r1!, x2: x2!, a2: a2!, r2: r2! };
  });

/** Propensity of the logged action at each of the two turns. */
export type Propensities = readonly [(r: TwoStageRow) => number, (r: TwoStageRow) => number];
export const known: Propensities = [(r) => bern(b1(r.x1), r.a1), (r) => bern(b2(r.x1, r.a1, r.x2), r.a2)];

/** Shares of each action among the rollouts of the same history. */
export function empirical(rows: readonly TwoStageRow[]): Propensities {
  const count = new Map<string, number>();
  const keys = ({ x1, a1, x2, a2 }: TwoStageRow) => [
    `${x1}`,
    `${x1}${a1}`,
    `${x1}${a1}${x2}`,
    `${x1}${a1}${x2}${a2}`,
  ];
  for (const r of rows) for (const key of keys(r)) count.set(key, (count.get(key) ?? 0) + 1);
  const share = (r: TwoStageRow, k: number) => count.get(keys(r)[k + 1]!)! / count.get(keys(r)[k]!)!;
  return [(r) => share(r, 0), (r) => share(r, 2)];
}

/** Features x₁ at the first turn; x₁, a₁, x₂ at the second. */
export const twoStageEpisodes = (rows: readonly TwoStageRow[], [f1, f2]: Propensities = known) =>
  rows.map((r, i): EpisodeInput => {
    const turn = (a: number, b: number, reward: number, features: number[]) => ({
      reward,
      action_class: String(a),
      behaviour_log_propensity: Math.log(b),
      features,
    });
    return {
      episode_id: `e${i}`,
      ending: 'terminated',
      turns: [turn(r.a1, f1(r), r.r1, [r.x1, -1, -1]), turn(r.a2, f2(r), r.r2, [r.x1, r.a1, r.x2])],
    };
  });

/** π(1 | x₁) and π(1 | x₁, a₁, x₂). */
export type TwoStagePolicy = readonly [
  (x1: number) => number,
  (x1: number, a1: number, x2: number) => number,
];
export const POLICIES = {
  behaviour: [b1, b2],
  optimal: [(x1) => x1, (_x1, _a1, x2) => x2],
  always_1: [() => 1, () => 1],
  always_0: [() => 0, () => 0],
  soft: [() => 0.5, (_x1, _a1, x2) => (x2 === 1 ? 0.75 : 0.25)],
} satisfies Record<string, TwoStagePolicy>;
export type PolicyName = keyof typeof POLICIES;
export const NAMES = Object.keys(POLICIES) as PolicyName[];

/** A policy file whose cells are the histories. */
export function policyFile([d1, d2]: TwoStagePolicy, policy = 'two-stage'): PolicyFile {
  const pick = (p: number) => ({ '0': 1 - p, '1': p });
  return checkPolicyFile({
    policy,
    trained_on: 'none',
    rules: [
      ...bits.map((x1) => ({ when: { turn: 0, 'features.0': x1 }, probabilities: pick(d1(x1)) })),
      ...bits.flatMap((x1) =>
        bits.flatMap((a1) =>
          bits.map((x2) => ({
            when: { turn: 1, 'features.0': x1, 'features.1': a1, 'features.2': x2 },
            probabilities: pick(d2(x1, a1, x2)),
          })),
        ),
      ),
    ],
  });
}
