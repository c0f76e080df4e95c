import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { PolicyFile } from '../../src/policy/policy-file.ts';
import { Episode, type EpisodeInput } from '../../src/schema/episode.ts';
import { Manifest } from '../../src/schema/manifest.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { toolAgentExact } from '../../src/simulate/tool-agent-exact.ts';
import {
  ACTIONS,
  HORIZON,
  NEXT,
  SUCCESS,
  TOOL_AGENT_POLICIES,
  type ToolAgentPolicyName,
  TURN_REWARD,
} from '../../src/simulate/tool-agent-law.ts';

const dataset = new URL('../../datasets/tool-agent/', import.meta.url);
const manifest = Manifest.parse(JSON.parse(readFileSync(new URL('manifest.json', dataset), 'utf8')));
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const jsonl = (episodes: Iterable<EpisodeInput>): string =>
  [...episodes].map((e) => `${JSON.stringify(e)}\n`).join('');
const total = (e: EpisodeInput): number => e.reward! + e.turns.reduce((sum, turn) => sum + turn.reward!, 0);

describe('the committed data set', () => {
  test.each(manifest.files.map((f) => [f.path, f] as const))('%s is what the manifest says', (path, file) => {
    const data = readFileSync(new URL(path, dataset));
    expect({ sha256: sha256(data), bytes: data.length }).toEqual({ sha256: file.sha256, bytes: file.bytes });
    if (file.rows !== null) expect(data.toString().trimEnd().split('\n').length).toBe(file.rows);
  });

  test('the generator makes it again, byte for byte', () => {
    expect(sha256(jsonl(simulateToolAgent({ tasks: 200, episodes: 2000, seed: 0 })))).toBe(
      manifest.files.find((f) => f.path === 'episodes.jsonl')!.sha256,
    );
  });

  test('the facts of the manifest are the exact values', () => {
    for (const [name, facts] of Object.entries(manifest.facts.policies as object)) {
      const exact = toolAgentExact(TOOL_AGENT_POLICIES[name as ToolAgentPolicyName]);
      expect(facts.value).toBeCloseTo(exact.value, 11);
      expect(facts.startValue[0]).toBeCloseTo(exact.v[0]![0]!, 11);
      expect(facts.startValue[1]).toBeCloseTo(exact.v[0]![1]!, 11);
      expect(facts.varianceIs).toBeCloseTo(exact.varianceIs, 9);
      expect(facts.variancePdis).toBeCloseTo(exact.variancePdis, 9);
      exact.essFraction.forEach((x, t) => {
        expect(facts.essFraction[t]).toBeCloseTo(x, 11);
      });
    }
  });

  test.each(['soft', 'patient', 'eager'] as const)('%s.policy.json is the policy of that name', (name) => {
    const file = PolicyFile.parse(JSON.parse(readFileSync(new URL(`${name}.policy.json`, dataset), 'utf8')));
    for (let turn = 0; turn < HORIZON; turn++)
      for (let q = 0; q < 3; q++) {
        const known: Record<string, number> = { turn, 'features.0': q };
        const rule = file.rules.find((r) => Object.entries(r.when).every(([key, v]) => known[key] === v))!;
        const want = TOOL_AGENT_POLICIES[name](turn, q);
        ACTIONS.forEach((a, i) => {
          expect(rule.probabilities[a] ?? 0).toBeCloseTo(want[i]!, 12);
        });
      }
  });
});

property.prop([fc.integer({ min: 1, max: 7 }), fc.nat(40), fc.nat()])(
  'episodes are spread evenly over the tasks, valid, and unique',
  (tasks, more, seed) => {
    const episodes = [...simulateToolAgent({ tasks, episodes: tasks + more, seed })];
    const counts = new Map<string, number>();
    for (const e of episodes) {
      Episode.parse(e);
      expect(e.trial).toBe(counts.get(e.task_id!) ?? 0);
      counts.set(e.task_id!, e.trial! + 1);
    }
    expect(episodes.length).toBe(tasks + more);
    expect(counts.size).toBe(tasks);
    expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(1);
    expect(new Set(episodes.map((e) => e.episode_id)).size).toBe(episodes.length);
  },
);

property.prop([fc.nat()], { numRuns: 10 })('more trials leave the first ones as they were', (seed) => {
  const few = [...simulateToolAgent({ tasks: 3, episodes: 6, seed })];
  const all = [...simulateToolAgent({ tasks: 3, episodes: 30, seed })];
  const of = new Map(all.map((e) => [e.episode_id, e]));
  for (const e of few) expect(of.get(e.episode_id)).toEqual(e);
});

test('every episode obeys the law: endings, rewards, propensities, states in words and numbers', () => {
  for (const e of simulateToolAgent({ tasks: 20, episodes: 400, seed: 3 })) {
    const last = e.turns.at(-1)!;
    expect(e.ending).toBe(last.action_class === 'submit' ? 'terminated' : 'limit');
    if (e.ending === 'limit') expect([e.turns.length, e.reward]).toEqual([HORIZON, 0]);
    e.turns.forEach((turn, t) => {
      const q = turn.features![0]!;
      const a = ACTIONS.indexOf(turn.action_class as (typeof ACTIONS)[number]);
      expect(turn.observation).toContain(`Draft: ${['rough', 'fair', 'good'][q]}.`);
      expect(turn.reward).toBe(TURN_REWARD[a]);
      expect(Math.exp(turn.behaviour_log_propensity!)).toBeCloseTo(
        TOOL_AGENT_POLICIES.behaviour(t, q)[a]!,
        12,
      );
      if (t > 0) expect(e.turns[t - 1]!.action_class).not.toBe('submit');
    });
  }
});

/** Chi-square against known probabilities, per cell of expected count ≥ 5. */
function chiSquare(counts: readonly number[], p: readonly number[]): number {
  const n = counts.reduce((a, b) => a + b, 0);
  return p.reduce((sum, pi, i) => (pi === 0 ? sum : sum + (counts[i]! - n * pi) ** 2 / (n * pi)), 0);
}

test('transitions, actions and successes are drawn with the probabilities of the law', () => {
  const acts = [0, 1, 2].map(() => [0, 0, 0]);
  const next = [0, 1].map(() => [0, 1, 2].map(() => [0, 0, 0]));
  const success = [0, 1, 2].map(() => [0, 0]);
  for (const e of simulateToolAgent({ tasks: 100, episodes: 30_000, seed: 5 }))
    e.turns.forEach((turn, t) => {
      const q = turn.features![0]!;
      const a = ACTIONS.indexOf(turn.action_class as (typeof ACTIONS)[number]);
      acts[q]![a]!++;
      if (a === 2) success[q]![e.reward!]!++;
      else if (t + 1 < e.turns.length) next[a]![q]![e.turns[t + 1]!.features![0]!]!++;
    });
  // 1 or 2 degrees of freedom each: 25 is beyond 1 in 200,000.
  for (let q = 0; q < 3; q++) {
    expect(chiSquare(acts[q]!, TOOL_AGENT_POLICIES.behaviour(0, q))).toBeLessThan(25);
    expect(chiSquare(success[q]!, [1 - SUCCESS[q]!, SUCCESS[q]!])).toBeLessThan(25);
    for (let a = 0; a < 2; a++) {
      const p = NEXT[a]![q]!;
      expect(chiSquare(next[a]![q]!, p)).toBeLessThan(25);
      p.forEach((pk, k) => {
        if (pk === 0) expect(next[a]![q]![k]).toBe(0);
      });
    }
  }
});

test.each(Object.keys(TOOL_AGENT_POLICIES) as ToolAgentPolicyName[])(
  'the mean return of %s is its exact value within five standard errors',
  (policy) => {
    const returns = [...simulateToolAgent({ tasks: 200, episodes: 20_000, seed: 8, policy })].map(total);
    const mean = returns.reduce((a, b) => a + b, 0) / returns.length;
    const sd = Math.sqrt(returns.reduce((a, g) => a + (g - mean) ** 2, 0) / returns.length);
    expect(Math.abs(mean - toolAgentExact(TOOL_AGENT_POLICIES[policy]).value)).toBeLessThan(
      (5 * sd) / Math.sqrt(returns.length),
    );
  },
);

test('starts: halves alternates, drawn draws with one half each', () => {
  const firsts = (starts: 'halves' | 'drawn') =>
    [...simulateToolAgent({ tasks: 1000, episodes: 1000, seed: 2, starts })].map(
      (e) => e.turns[0]!.features![0]!,
    );
  expect(firsts('halves')).toEqual(Array.from({ length: 1000 }, (_, k) => k % 2));
  const ones = firsts('drawn').reduce((a, b) => a + b, 0);
  expect(Math.abs(ones - 500)).toBeLessThan(5 * Math.sqrt(250));
  expect(ones).not.toBe(500);
});
