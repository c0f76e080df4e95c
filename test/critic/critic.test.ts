import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { type CriticFit, fitCritic } from '../../src/critic/critic.ts';
import { normal, random } from '../../src/math/random.ts';
import { Credit } from '../../src/schema/credit.ts';
import { takeEpisodes } from '../../src/trajectories/view.ts';
import { agentTurns, sparse, type TestEpisode, type TestWorld, worldOf } from './world.ts';

const fit = (w: TestWorld, config = {}): CriticFit =>
  fitCritic(w.t, w.states, w.actions, { placebos: 5, ...config });

/** Exact rational dynamic programming; see `origin` in the fixture. Turns are counted from 1 there. */
const exact = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../fixtures/tool-agent-exact.json'), 'utf8'),
).policies.behaviour as {
  V_t: Record<string, Record<string, number>>;
  Q_t: Record<string, Record<string, Record<string, number>>>;
};

describe('on the law of agent-turns-exact', () => {
  const n = 20_000;
  const w = worldOf(agentTurns(n, 1));
  const f = fit(w, { placebos: 20 });
  const S = w.t.turns.turn.length;
  const cells = (key: (s: number) => string): Map<string, number[]> => {
    const out = new Map<string, number[]>();
    for (let s = 0; s < S; s++) {
      const k = key(s);
      const rows = out.get(k);
      if (rows) rows.push(s);
      else out.set(k, [s]);
    }
    return out;
  };
  const mean = (rows: readonly number[], x: Float64Array): number =>
    rows.reduce((sum, s) => sum + x[s]!, 0) / rows.length;
  const standardError = (rows: readonly number[], x: Float64Array): number => {
    const m = mean(rows, x);
    return Math.sqrt(rows.reduce((sum, s) => sum + (x[s]! - m) ** 2, 0) / (rows.length - 1) / rows.length);
  };
  const { turn, actionClass } = w.t.turns;
  const stateKey = (s: number): string => `${turn[s]! + 1} ${w.states.indices[s]}`;
  const seV = new Map([...cells(stateKey)].map(([key, rows]) => [key, standardError(rows, f.rows.toGo)]));
  const classOf = (s: number): string => actionClass.values[actionClass.codes[s]!]!;

  test('V_t(q) is the exact value of the behaviour policy, within 4 standard errors', () => {
    const z: number[] = [];
    for (const [key, rows] of cells(stateKey)) {
      const [t, q] = key.split(' ');
      const want = exact.V_t[t!]![q!]!;
      z.push((mean(rows, f.v) - want) / seV.get(key)!);
    }
    expect(z).toHaveLength(17);
    expect(Math.max(...z.map(Math.abs))).toBeLessThan(4);
  });

  test('A_t(q, a) is the exact advantage, within 4 standard errors', () => {
    const z: number[] = [];
    for (const [key, rows] of cells((s) => `${turn[s]! + 1} ${w.states.indices[s]} ${classOf(s)}`)) {
      if (rows.length < 100) continue;
      const [t, q, a] = key.split(' ');
      const want = exact.Q_t[t!]![q!]![a!]! - exact.V_t[t!]![q!]!;
      // Â in a cell is the mean of r + V̂(s′) less V̂(s): the spread of δ in the cell, the error of V̂(s),
      // and that of V̂(s′), no more than the largest at the next turn.
      const next = Math.max(0, ...['0', '1', '2'].map((k) => seV.get(`${Number(t) + 1} ${k}`) ?? 0));
      const se = Math.hypot(standardError(rows, f.delta), seV.get(`${t} ${q}`)!, a === 'submit' ? 0 : next);
      z.push((mean(rows, f.advantage) - want) / se);
    }
    expect(z.length).toBeGreaterThan(40);
    expect(Math.max(...z.map(Math.abs))).toBeLessThan(4);
  });

  test('submitting helps in state 2 and hurts in state 0', () => {
    const at = cells((s) => `${w.states.indices[s]} ${classOf(s)}`);
    expect(mean(at.get('2 submit')!, f.advantage)).toBeGreaterThan(0.02);
    expect(mean(at.get('0 submit')!, f.advantage)).toBeLessThan(-0.05);
  });

  test('the mean of A at each stage is 0 within 3 standard errors', () => {
    expect(f.report.stages).toHaveLength(6);
    for (const { advantage } of f.report.stages)
      expect(Math.abs(advantage.mean)).toBeLessThan(3 * advantage.se!);
  });

  test('held out it beats the constant, the placebo does not', () => {
    const { heldOut, constant, placebo } = f.report;
    expect(heldOut.rmse).toBeLessThan(constant.rmse - 0.03);
    expect(heldOut.turn0.rmse).toBeLessThan(constant.turn0.rmse - 0.01);
    expect(Math.abs(placebo.r2!)).toBeLessThan(0.002);
    expect(placebo.asGood).toBe(0);
    expect(f.report.warnings).toEqual([]);
  });

  test('V is calibrated: observed within 4 standard errors of predicted in every tenth', () => {
    expect(f.report.calibration).toHaveLength(10);
    for (const { predicted, observed, se } of f.report.calibration)
      expect(Math.abs(predicted - observed)).toBeLessThan(4 * se!);
  });

  test('actions are ranked by mean δ: cheap is the harmful one', () => {
    expect(f.report.actions.at(-1)!.action).toBe('class=cheap');
  });
});

const someTurns = fc.integer({ min: 0, max: 1e6 }).map((seed) => agentTurns(240, seed, 30));

describe('laws', () => {
  test.prop([someTurns], { numRuns: 10 })('Σ_k δ_k = G − V(s₀) on every path', (episodes) => {
    const w = worldOf(episodes);
    const f = fit(w);
    episodes.forEach((e, i) => {
      const first = w.t.episodeOffsets[i]!;
      const G = e.reward + e.turns.reduce((s, k) => s + (k.reward ?? 0), 0);
      let sum = 0;
      for (let s = first; s < w.t.episodeOffsets[i + 1]!; s++) sum += f.delta[s]!;
      expect(Math.abs(sum - (G - f.v[first]!))).toBeLessThan(1e-9);
    });
  });

  test.prop([someTurns, fc.integer()], { numRuns: 5 })(
    'the order of the log changes no digit',
    (episodes, seed) => {
      const rng = random(seed >>> 0);
      const shuffled = episodes
        .map((e) => [normal(rng), e] as const)
        .sort((a, b) => a[0] - b[0])
        .map(([, e]) => e);
      const a = worldOf(episodes);
      const b = worldOf(shuffled);
      const fa = fit(a);
      const fb = fit(b);
      const of = (w: TestWorld, f: CriticFit) =>
        new Map(
          w.t.episodes.id.map((id, i) => {
            const rows = [w.t.episodeOffsets[i]!, w.t.episodeOffsets[i + 1]!] as const;
            return [
              id,
              [f.v.slice(...rows), f.q.slice(...rows), f.delta.slice(...rows), f.supported.slice(...rows)],
            ];
          }),
        );
      expect(of(b, fb)).toEqual(expect.objectContaining({}));
      for (const [id, values] of of(a, fa)) expect(of(b, fb).get(id)).toEqual(values);
      expect(fb.report).toEqual(fa.report);
    },
  );

  test.prop([someTurns, fc.double({ min: -5, max: 5, noNaN: true })], { numRuns: 5 })(
    'a constant added to the terminal reward moves V and Q by it and leaves A and δ',
    (episodes, c) => {
      const w = worldOf(episodes);
      const a = fit(w);
      const b = fit(worldOf(episodes.map((e) => ({ ...e, reward: e.reward + c }))));
      for (const s of a.rows.rows) {
        expect(b.v[s]! - a.v[s]!).toBeCloseTo(c, 8);
        expect(b.q[s]! - a.q[s]!).toBeCloseTo(c, 8);
        expect(b.advantage[s]).toBeCloseTo(a.advantage[s]!, 8);
        expect(b.delta[s]).toBeCloseTo(a.delta[s]!, 8);
      }
      expect(b.report.heldOut.rmse).toBeCloseTo(a.report.heldOut.rmse, 8);
    },
  );

  test.prop([someTurns, fc.double({ min: 0.1, max: 20, noNaN: true })], { numRuns: 5 })(
    'rewards times c give V, Q, A and δ times c',
    (episodes, c) => {
      const times = (e: TestEpisode): TestEpisode => ({
        ...e,
        reward: e.reward * c,
        turns: e.turns.map((k) => (k.reward === undefined ? k : { ...k, reward: k.reward * c })),
      });
      const a = fit(worldOf(episodes));
      const b = fit(worldOf(episodes.map(times)));
      for (const s of a.rows.rows)
        for (const x of ['v', 'q', 'advantage', 'delta'] as const)
          expect(b[x][s]! / c).toBeCloseTo(a[x][s]!, 7);
      expect(b.report.heldOut.r2).toBeCloseTo(a.report.heldOut.r2!, 7);
    },
  );

  test('no outcome of a task reaches the values of its own turns', () => {
    const episodes = agentTurns(300, 4, 30);
    const a = fit(worldOf(episodes));
    const w = worldOf(episodes.map((e) => (e.task === 't7' ? { ...e, reward: 1 - e.reward } : e)));
    const b = fit(w);
    let seen = 0;
    episodes.forEach((e, i) => {
      if (e.task !== 't7') return;
      for (let s = w.t.episodeOffsets[i]!; s < w.t.episodeOffsets[i + 1]!; s++) {
        expect(b.v[s]).toBeCloseTo(a.v[s]!, 9);
        expect(b.q[s]).toBeCloseTo(a.q[s]!, 9);
        seen++;
      }
    });
    expect(seen).toBeGreaterThan(10);
    expect(b.report.heldOut.rmse).not.toBeCloseTo(a.report.heldOut.rmse, 6);
  });

  test('a leak of the outcome into the state shows as R² near 1; the placebo of it does not', () => {
    const episodes = agentTurns(2000, 8, 200);
    const w = worldOf(episodes);
    const leak = episodes.flatMap((e) => e.turns.map(() => [e.reward, 1 - e.reward]));
    const f = fitCritic(w.t, sparse(leak, ['won', 'lost']), w.actions, { placebos: 10 });
    expect(f.report.heldOut.r2).toBeGreaterThan(0.95);
    // A reshuffled outcome is not the leaked one.
    expect(Math.abs(f.report.placebo.r2!)).toBeLessThan(0.05);
  });
});

describe('what is said', () => {
  test('the report holds to its schema', () => {
    const f = fit(worldOf(agentTurns(100, 2, 25)));
    expect(Credit.parse({ ...f.report, episodes: [] }).n).toBe(100);
  });

  test('where the outcome is noise, it says not to read the advantages', () => {
    const rng = random(3);
    const episodes = agentTurns(400, 5, 40).map((e) => ({
      ...e,
      reward: normal(rng),
      turns: e.turns.map((k) => ({ ...k, reward: 0 })),
    }));
    const codes = fit(worldOf(episodes), { placebos: 20 }).report.warnings.map((w) => w.code);
    expect(codes.some((c) => c === 'no-better-than-constant' || c === 'gain-not-clear')).toBe(true);
    expect(codes).toContain('no-better-than-placebo');
  });

  test('cut, unfinished and aborted episodes are left out and counted, limit is not', () => {
    const episodes = agentTurns(120, 6, 30);
    const cut: TestEpisode[] = [
      { ...episodes[0]!, ending: 'truncated' },
      { ...episodes[1]!, ending: 'aborted' },
      { ...episodes[2]!, ending: 'unfinished' },
      { ...episodes[3]!, ending: 'limit' },
      ...episodes.slice(4),
    ];
    const w = worldOf(cut);
    const f = fit(w);
    expect(f.report.excluded).toEqual({
      truncated: 1,
      unfinished: 1,
      aborted: 1,
      withoutReward: 0,
      withoutTurns: 0,
      returnNotFinite: 0,
    });
    expect(f.report.n).toBe(117);
    for (let s = 0; s < w.t.episodeOffsets[3]!; s++) expect(f.v[s]).toBeNaN();
    expect(f.v[w.t.episodeOffsets[3]!]).not.toBeNaN();
    expect(f.report.warnings.map((x) => x.code)).toContain('excluded-episodes');
    // As if they were not in the log.
    const without = takeEpisodes(w.t, [...w.t.index.keys()].slice(3));
    expect(fitCritic(without, w.states, w.actions, { placebos: 5 }).v).toEqual(f.v);
  });

  test('few tasks: folds are reduced and it says so; one task is refused', () => {
    const codes = fit(worldOf(agentTurns(60, 7, 3))).report.warnings.map((w) => w.code);
    expect(codes).toContain('folds-reduced');
    expect(codes).toContain('few-tasks');
    expect(() => fit(worldOf(agentTurns(60, 7, 1)))).toThrow('too few tasks');
  });

  test('equal returns: nothing to predict', () => {
    const episodes = agentTurns(100, 9, 20).map((e) => ({
      ...e,
      reward: 1,
      turns: e.turns.map((k) => ({ ...k, reward: 0 })),
    }));
    const f = fit(worldOf(episodes));
    expect(f.report.heldOut.r2).toBeNull();
    expect(f.report.warnings.map((w) => w.code)).toContain('zero-variance');
  });

  test('stages with few turns are pooled and marked', () => {
    const f = fit(worldOf(agentTurns(1000, 10, 100)), { minStageRows: 300 });
    const { models } = f.report.critic;
    expect(models.map((m) => m.pooled)).toEqual([...models.slice(1).map(() => false), true]);
    expect(models.at(-1)!.to).toBe(5);
    expect(models.at(-1)!.turns).toBeGreaterThan(300);
    expect(f.report.stages.filter((s) => s.pooled).map((s) => s.turn)).toContain(5);
  });

  test('a class no training part took, and a state it never saw, are unsupported', () => {
    const episodes = agentTurns(400, 12, 40);
    const odd: TestEpisode = {
      id: 'odd',
      task: 'odd',
      reward: 1,
      turns: [
        { state: 0, action: 'escalate' },
        { state: 3, action: 'submit' },
      ],
    };
    const w = worldOf([...episodes, odd], 4);
    const f = fit(w);
    const first = w.t.episodeOffsets[400]!;
    expect([...f.supported.subarray(first)]).toEqual([0, 0]);
    expect(f.report.supportedShare).toBeGreaterThan(0.95);
  });

  test('a class no training part took is unsupported even where no feature marks it', () => {
    const odd: TestEpisode = { id: 'odd', task: 'odd', reward: 1, turns: [{ state: 0, action: 'escalate' }] };
    const w = worldOf([...agentTurns(400, 12, 40), odd]);
    const blank = sparse(
      Array.from({ length: w.states.rows }, () => [0]),
      ['nothing'],
    );
    const f = fitCritic(w.t, w.states, blank, { placebos: 2, interactions: 'none' });
    expect(f.supported.at(-1)).toBe(0);
    expect(f.supported[0]).toBe(1);
  });

  test('propensities in the logs change what A may be read as', () => {
    const w = worldOf(agentTurns(100, 13, 20));
    expect(fit(w).report.label.causal).toMatch(/^predictive only, not causal/);
    w.t.turns.behaviourLogPropensity.fill(-1);
    expect(fit(w).report.label.causal).toMatch(/^A of the logging policy under logged propensities/);
  });
});
