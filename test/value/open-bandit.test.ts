/*
 * Real logs with a known answer: the men's campaign of the Open Bandit Dataset (Saito, Aihara, Matsutani &
 * Narita 2021). A uniform policy showed 10,000 items and logged its propensities, 1/34 each; the target's own
 * 10,000 impressions say what it is worth. An impression is an episode of one turn: item = action class,
 * position = feature, click = reward. The target is the share of each item at each position in its own log:
 * a time average, itself estimated.
 *
 * Every expected number is one of the case, or comes from the CSV rows by plain sums here.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { auditText, evaluationText } from '../../src/cli/audit-text.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { describe as describeStore } from '../../src/inspect/describe.ts';
import type { Audit } from '../../src/schema/audit.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { foldsByTask } from '../../src/trajectories/split.ts';
import cases from '../fixtures/ope-known-answers.json' with { type: 'json' };

const want = cases.open_bandit_men;
const logs = resolve(import.meta.dirname, '../../../shared/logs/obd');
const ITEMS = 34;

interface Impression {
  readonly item: number;
  readonly position: number;
  readonly click: number;
  readonly propensity: number;
}

/** Rows of a log; the columns in use come first and hold no comma. */
function impressions(name: string): Impression[] {
  const [header, ...lines] = readFileSync(join(logs, name, 'log.csv'), 'utf8')
    .trim()
    .split('\n');
  expect(header).toMatch(/^,timestamp,item_id,position,click,propensity_score,/);
  return lines.map((line) => {
    const [item, position, click, propensity] = line.split(',').slice(2, 6).map(Number);
    return { item: item!, position: position!, click: click!, propensity: propensity! };
  });
}

const episode = (x: Impression, i: number): EpisodeInput => ({
  episode_id: `impression ${i}`,
  ending: 'terminated',
  turns: [
    {
      action_class: `item ${x.item}`,
      behaviour_log_propensity: Math.log(x.propensity),
      reward: x.click,
      features: [x.position],
    },
  ],
});

/** [position 1 to 3][item] of each key: how many, and the sum of what `f` says. */
function cells(rows: readonly Impression[], f: (x: Impression) => number = () => 1) {
  const table = Array.from({ length: 4 }, () =>
    Array.from({ length: ITEMS }, () => ({ count: 0, total: 0 })),
  );
  for (const x of rows) {
    const cell = table[x.position]![x.item]!;
    cell.count++;
    cell.total += f(x);
  }
  return table;
}

const total = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0);
const mean = (x: readonly number[]): number => total(x) / x.length;
/** Relative: the sums here and there differ in order, and the log of a propensity is not exact. */
const near = (got: number | null | undefined, expected: number) =>
  expect(Math.abs(got! / expected - 1), `${got} for ${expected}`).toBeLessThan(1e-11);

describe.skipIf(!existsSync(logs))('the Open Bandit logs (skipped: ../shared is not here)', () => {
  let folder: string;
  let random: Impression[];
  let own: Impression[];
  let pi: number[][]; // [position][item]
  let w: number[];
  const stores: Record<string, Store> = {};
  let a: Audit;

  /** The user's way: canonical lines to a file, the file into a store. */
  async function store(name: string, rows: readonly Impression[]): Promise<void> {
    const path = join(folder, `${name}.jsonl`);
    writeFileSync(path, rows.map((x, i) => `${JSON.stringify(episode(x, i))}\n`).join(''));
    stores[name] = await openStore(join(folder, `${name}.duckdb`), { mode: 'create' });
    const { files } = await ingest(stores[name], [path]);
    expect(files[0]).toMatchObject({ format: 'canonical', episodes: rows.length, rejects: 0 });
  }
  function policy(name: string, rules: readonly object[]): string {
    const path = join(folder, `${name}.policy.json`);
    writeFileSync(path, JSON.stringify({ policy: name, trained_on: 'none', rules }));
    return path;
  }
  const named = (p: readonly number[]) => Object.fromEntries(p.map((x, item) => [`item ${item}`, x]));
  const of = (name: string, from: Audit = a) => {
    const found = from.evaluation!.estimates.find((e) => e.estimator === name);
    if (found === undefined) throw new Error(`no estimate ${name}`);
    return found;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnwise-open-bandit-'));
    random = impressions('random-men');
    own = impressions('bts-men');
    pi = cells(own).map((items) => {
      const n = total(items.map((x) => x.count));
      return items.map((x) => x.count / n);
    });
    w = random.map((x) => pi[x.position]![x.item]! / x.propensity);
    await store('random', random);
    await store('own', own);
    const rules = [1, 2, 3].map((position) => ({
      when: { 'features.0': position },
      probabilities: named(pi[position]!),
    }));
    a = await auditTarget(stores.random!, policy('target', rules));
  });
  afterAll(() => {
    for (const s of Object.values(stores)) s.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('one-turn logs: IS is IPS and WIS is SNIPS, with the standard error, ESS and weights of the case', () => {
    near(a.evaluation!.behaviour.value, want.random_mean);
    near(of('IS').value, want.IPS);
    near(of('IS').seNaive, want.IPS_se);
    near(of('WIS').value, want.SNIPS);
    near(a.weights!.ess, want.ESS);
    near(a.weights!.meanWeight, want.mean_weight);
    near(a.weights!.largestWeight, want.max_weight);
    for (const name of ['PDIS', 'MIS']) near(of(name).value, want.IPS);
    for (const name of ['WPDIS carried', 'WPDIS alive', 'WPDIS alive-mean-over-n'])
      near(of(name).value, want.SNIPS);
  });

  test('the target’s own log: its click rate with the standard error of the case', async () => {
    const { reward } = await describeStore(stores.own!);
    near(reward!.mean, want.on_policy_mean);
    near(reward!.seNaive, want.on_policy_se);
  });

  test('DR: its parts by plain sums over position × item; it agrees with the target’s own log', async () => {
    // The folds are the library's; what is done with them is done here again.
    const foldOf = foldsByTask(await loadTrajectories(stores.random!), 5, 0);
    const q = [0, 1, 2, 3, 4].map((fold) => {
      const others = random.filter((_, i) => foldOf[i] !== fold);
      const all = mean(others.map((x) => x.click));
      return cells(others, (x) => x.click).map((items) =>
        items.map((x) => (x.count > 0 ? x.total / x.count : all)),
      );
    });
    const v = random.map(({ position }, i) =>
      total(pi[position]!.map((p, item) => p * q[foldOf[i]!]![position]![item]!)),
    );
    const psi = random.map(
      ({ position, item, click }, i) => v[i]! + w[i]! * (click - q[foldOf[i]!]![position]![item]!),
    );
    const dr = of('DR');
    near(dr.value, mean(psi));
    const n = psi.length;
    near(dr.se, Math.sqrt(total(psi.map((x) => (x - mean(psi)) ** 2)) / (n - 1) / n));
    near(dr.parts!.ipw, want.IPS);
    near(dr.parts!.regression, mean(v));
    near(of('DM').value, mean(v));
    // A difference of near numbers: absolute.
    expect(dr.parts!.correction).toBeCloseTo(mean(psi) - mean(v), 14);

    const gap = Math.abs(dr.value! - want.on_policy_mean);
    expect(gap).toBeLessThan(1.96 * Math.hypot(dr.se!, want.on_policy_se));
    for (const name of ['IS', 'WIS', 'DR', 'WDR carried']) {
      const { lo, hi } = of(name).interval!;
      expect(lo, name).toBeLessThan(want.on_policy_mean);
      expect(hi, name).toBeGreaterThan(want.on_policy_mean);
      // … and the logged rate: these logs do not say that the target is better.
      expect(lo, name).toBeLessThan(want.random_mean);
    }
    const { lo, hi } = a.evaluation!.bounds!;
    expect(lo).toBeLessThan(want.on_policy_mean);
    expect(hi).toBeGreaterThan(want.on_policy_mean);
  });

  test('the audit: 10,000 clusters, complete support, a mean weight within chance, few clicks: weak', () => {
    // 46 clicks, whose weighted residuals are as skewed as those of 11: tasks over squared skewness.
    expect(total(random.map((x) => x.click))).toBe(46);
    const moment = (k: number) => mean(random.map((x, i) => (w[i]! * (x.click - want.SNIPS)) ** k));
    near(a.weights!.events, (random.length * moment(2) ** 3) / moment(3) ** 2);
    expect(a.reasons.map((r) => r.code)).toEqual(['few-events']);
    expect(a.verdict).toBe('weak');
    expect(a.evaluation!.clusters).toBe(10_000);
    near(a.weights!.essByTask, want.ESS); // each impression is a task of its own
    // Support: every item that the target shows somewhere was shown there, 67 times or more.
    const shown = cells(random);
    for (const position of [1, 2, 3])
      pi[position]!.forEach((p, item) => {
        if (p > 0) expect(shown[position]![item]!.count).toBeGreaterThanOrEqual(67);
      });
    expect(a.unsupported).toMatchObject({ mass: 0, reason: null, cells: [], open: { mass: 0 } });
    const [turn, ...more] = a.stages;
    expect(more).toEqual([]);
    const se = Math.sqrt(total(w.map((x) => (x - mean(w)) ** 2)) / (w.length - 1) / w.length);
    near(turn!.meanWeightSe, se);
    near(turn!.z, (mean(w) - 1) / se); // −0.94
    near(a.weights!.largestShare, Math.max(...w) / total(w)); // 0.08 %
    // 102 cells are atoms, of which four make the tail: no tail index.
    expect(a.weights!.kHat).toBeNull();
    expect(a.weights!.kHatReason).toMatch(/made of 4 distinct values/);
    // A propensity of 1/34 on every turn is what a uniform choice of 34 items has, not a column filled in.
    expect(a.warnings.map((x) => x.code)).toEqual(['no-tail-index']);
  });

  test('a click rate is printed with the digits of its standard error', () => {
    expect(auditText(a)).toMatch(/mean return +0\.00460 +\[0\.00327, 0\.00593\]/);
    expect(evaluationText(a)).toMatch(/\n +WIS +0\.00574 +0\.00142 +\[0\.00297, 0\.00851\] +2,869\.3/);
  });

  test('a target that shows an item the logs never showed is refused, with the share by name', async () => {
    const rules = [
      { when: { 'features.0': 3 }, probabilities: { 'item 33': 0.7, 'item 34': 0.3 } },
      { probabilities: named(pi[1]!) },
    ];
    const { verdict, reasons } = await auditTarget(stores.random!, policy('other', rules));
    expect(verdict).toBe('refused');
    const { value, message } = reasons.find((r) => r.code === 'unsupported-mass')!;
    near(value, (0.3 * random.filter((x) => x.position === 3).length) / random.length);
    expect(message).toMatch(/mostly item 34 in rule 0 at features\.0 = 3$/);
  });

  test('the other way round: the uniform policy from the target’s log, propensities by impression', async () => {
    const uniform = policy('uniform', [{ probabilities: named(new Array(ITEMS).fill(1 / ITEMS)) }]);
    const back = await auditTarget(stores.own!, uniform);
    const u = own.map((x) => 1 / ITEMS / x.propensity); // up to 178
    near(of('IS', back).value, mean(own.map((x, i) => u[i]! * x.click)));
    near(of('WIS', back).value, total(own.map((x, i) => u[i]! * x.click)) / total(u));
    near(back.weights!.ess, total(u) ** 2 / total(u.map((x) => x * x)));
    near(back.weights!.largestWeight, Math.max(...u));
    // Its interval for IS ends at 0.0045, below the 0.0046 of the uniform policy's own log: 69 clicks, like 5.4.
    expect(back.reasons.map((r) => r.code)).toEqual(['few-events']);
    const se = Math.sqrt((want.random_mean * (1 - want.random_mean)) / random.length);
    const { value, se: seDr } = of('DR', back);
    expect(Math.abs(value! - want.random_mean)).toBeLessThan(1.96 * Math.hypot(seDr!, se)); // z = 1.6
  });
});
