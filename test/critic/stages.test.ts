import { describe, expect, test } from 'vitest';
import { chooseInteractions, stateActionDesign, stateDesign } from '../../src/critic/critic-designs.ts';
import { criticRows } from '../../src/critic/critic-rows.ts';
import { shuffledReturns } from '../../src/critic/placebo.ts';
import { stageGroups } from '../../src/critic/stages.ts';
import { agentTurns, sparse, worldOf } from './world.ts';

describe('stages', () => {
  const r = criticRows(worldOf(agentTurns(500, 1, 50)).t, 5, 0);

  test('every turn is in one group, stages of their own come first', () => {
    const groups = stageGroups(r, 150);
    expect(groups.reduce((n, g) => n + g.rows.length, 0)).toBe(r.rows.length);
    groups.slice(0, -1).forEach((g, k) => {
      expect([g.from, g.to, g.pooled]).toEqual([k, k, false]);
      expect(g.rows.every((s) => r.stage[s] === k)).toBe(true);
    });
  });

  test('each training part of a group holds at least as many turns as asked for', () => {
    for (const g of stageGroups(r, 150))
      for (let m = 0; m < 5; m++)
        expect(g.rows.filter((s) => r.fold[s] !== m).length).toBeGreaterThanOrEqual(150);
  });

  test('too few everywhere: all stages are pooled', () => {
    const groups = stageGroups(r, 1e6);
    expect(groups.map((g) => [g.from, g.to, g.pooled])).toEqual([[0, 5, true]]);
  });

  test('enough everywhere: none is pooled', () => {
    expect(stageGroups(r, 1).map((g) => g.pooled)).toEqual(new Array(6).fill(false));
  });
});

describe('placebo', () => {
  const r = criticRows(worldOf(agentTurns(240, 2, 60)).t, 4, 0);
  const B = 3;
  const out = shuffledReturns(r, B, 0);

  test('a fold keeps its returns', () => {
    for (let b = 0; b < B; b++)
      for (let m = 0; m < 4; m++) {
        const at = [...r.returns.keys()].filter((i) => r.foldOfEpisode[i] === m);
        expect(at.map((i) => out[i * B + b]!).sort()).toEqual(at.map((i) => r.returns[i]!).sort());
      }
  });

  test('returns of one task stay together where tasks have as many episodes', () => {
    const bag = (x: number[]): string => x.sort().join(' ');
    const byTask = (value: (i: number) => number): string[] =>
      Array.from({ length: r.clusters }, (_, c) =>
        bag([...r.returns.keys()].filter((i) => r.cluster[i] === c).map(value)),
      ).sort();
    expect(byTask((i) => out[i * B]!)).toEqual(byTask((i) => r.returns[i]!));
  });

  test('runs differ, the seed repeats them', () => {
    const column = (b: number): number[] => [...r.returns.keys()].map((i) => out[i * B + b]!);
    expect(column(0)).not.toEqual(column(1));
    expect(shuffledReturns(r, B, 0)).toEqual(out);
    expect(shuffledReturns(r, B, 1)).not.toEqual(out);
  });
});

describe('designs', () => {
  const states = sparse(
    [
      [1, 2],
      [0, 3],
    ],
    ['features.0', 'ngram.0'],
  );
  const actions = sparse([[1], [0]], ['n_calls']);
  const actionClass = { codes: Int32Array.of(1, 0), values: ['go', 'stop'] };
  const dense = (design: {
    columns: number;
    maxEntries: number;
    gather: ReturnType<typeof stateDesign>['gather'];
  }) =>
    [0, 1].map((row) => {
      const indices = new Int32Array(design.maxEntries);
      const values = new Float64Array(design.maxEntries);
      const out = new Array<number>(design.columns).fill(0);
      const n = design.gather(row, indices, values);
      expect([...indices.subarray(0, n)].every((j, k) => k === 0 || j > indices[k - 1]!)).toBe(true);
      for (let k = 0; k < n; k++) out[indices[k]!] = values[k]!;
      return out;
    });
  const config = { interactions: 'auto', maxClasses: 12, maxInteractions: 100 } as const;

  test('pooled stages add a level for each turn index after the first', () => {
    const design = stateDesign(states, { stage: Int32Array.of(3, 5), from: 3, to: 5 });
    expect(design.names).toEqual(['features.0', 'ngram.0', 'turn=4', 'turn=5']);
    expect(dense(design)).toEqual([
      [1, 2, 0, 0],
      [0, 3, 0, 1],
    ]);
    const long = stateDesign(states, { stage: Int32Array.of(1, 900), from: 0, to: 900 });
    expect(long.columns).toBe(2 + 64);
    expect(dense(long).map((row) => row.indexOf(1, 2))).toEqual([2, 65]);
  });

  test('class × state, with an intercept for each class', () => {
    const chosen = chooseInteractions(states, ['go', 'stop'], config);
    const design = stateActionDesign(stateDesign(states, null), states, actions, actionClass, chosen);
    expect(design.names.slice(3)).toEqual([
      'class=go',
      'class=go × features.0',
      'class=go × ngram.0',
      'class=stop',
      'class=stop × features.0',
      'class=stop × ngram.0',
    ]);
    expect(dense(design)).toEqual([
      [1, 2, 1, 0, 0, 0, 1, 1, 2],
      [0, 3, 0, 1, 0, 3, 0, 0, 0],
    ]);
  });

  test('interactions give up hashed n-grams first, then all', () => {
    const at = (most: number) =>
      chooseInteractions(states, ['go', 'stop'], { ...config, maxInteractions: most });
    expect(at(4).columns).toEqual([0, 1]);
    expect(at(3).columns).toEqual([0]);
    expect(at(1)).toMatchObject({ classes: [], columns: [] });
    expect(chooseInteractions(states, [], config).note).toMatch(/no action classes/);
  });
});
