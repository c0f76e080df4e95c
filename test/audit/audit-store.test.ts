import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, expect } from 'vitest';
import { auditStore } from '../../src/audit/audit-store.ts';
import { auditTarget } from '../../src/audit/audit-target.ts';
import type { Audit } from '../../src/schema/audit.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { TurnwiseError } from '../../src/schema/error.ts';
import type { TrainedOn } from '../../src/schema/trained-on.ts';
import { appendBatch } from '../../src/store/append.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { policyFile, simulated } from '../helpers/agent-turns.ts';
import { closeTo } from '../helpers/close-to.ts';
import { fill, storeOf } from '../helpers/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-audit-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a scan leaves out of an audit of loaded logs, and what tells the two apart on purpose. */
function comparable(audit: object): unknown {
  const { diagnostics: _, ...rest } = audit as { diagnostics?: unknown };
  return JSON.parse(
    JSON.stringify(rest, (key, x) => (key === 'events' || key === 'skewness' ? undefined : x)),
  );
}

/** What rests on third powers, where the last digits of the influence values count six times over. */
function thirdMoments({ evaluation, stages }: Audit): unknown {
  return [
    stages.map((s) => s.skewness),
    [...(evaluation?.estimates ?? []), evaluation?.difference, evaluation?.behaviour].map(
      (e) => e?.events ?? null,
    ),
  ];
}

/** Warnings and reasons about estimators that a scan does not have. */
function withoutNotes(audit: Audit): Audit {
  const kept = audit.warnings.filter((w) => !MODELLED.test(w.code));
  const reasons = audit.reasons.filter((r) => !/^(DR|DM|WDR|MAGIC|MIS|SWITCH|one-stage)/.test(r.message));
  return { ...audit, warnings: kept, reasons, evaluation: { ...audit.evaluation!, warnings: kept } };
}
const MODELLED = /q-|model|estimator|tabular|unseen/;

interface World {
  readonly episodes: EpisodeInput[];
  /** log π of each turn under the targets a and b. */
  readonly scores: Readonly<Record<'a' | 'b', readonly (readonly number[])[]>>;
}

const logProbability = fc.double({ min: -6, max: 0, noNaN: true });
const reward = fc.option(fc.double({ min: -2, max: 2, noNaN: true }), { nil: null, freq: 3 });
const episode = fc.record({
  task: fc.option(fc.constantFrom('t1', 't2', 't3', 't4', 't5', 't6'), { nil: null, freq: 5 }),
  ending: fc.constantFrom('terminated', 'terminated', 'limit', 'truncated', 'aborted', 'unfinished' as const),
  reward,
  turns: fc.array(fc.tuple(logProbability, logProbability, logProbability, reward), { maxLength: 6 }),
});
const world: fc.Arbitrary<World> = fc.array(episode, { minLength: 1, maxLength: 40 }).map((found) => ({
  episodes: found.map((e, i) => ({
    episode_id: `e${i}`,
    task_id: e.task,
    ending: e.ending as 'terminated',
    reward: e.reward,
    turns: e.turns.map(([b, , , r]) => ({ reward: r, behaviour_logprob: b, logprob_kind: 'raw' as const })),
  })),
  scores: {
    a: found.map((e) => e.turns.map((t) => t[1])),
    b: found
      .map((e) => e.turns.map(([b, , c], k) => (k === 3 ? Number.NEGATIVE_INFINITY : b + (c + 3) / 10)))
      .map((x) => x.map((y) => Math.min(0, y))),
  },
}));

async function withScores(store: Store, { scores }: World, trained: TrainedOn): Promise<void> {
  for (const policy of ['a', 'b'] as const) {
    const rows = scores[policy].flatMap((turns, e) => turns.map((x, t) => [e, t, x] as const));
    const n = rows.length;
    const text = (value: string) => ({ kind: 'text', values: new Array<string>(n).fill(value) }) as const;
    await appendBatch(store, {
      table: 'scores',
      rows: n,
      columns: {
        policy: text(policy),
        source: { kind: 'i32', values: new Int32Array(n) },
        trained_on: text(JSON.stringify(trained)),
        episode: { kind: 'i64', values: Float64Array.from(rows, (r) => r[0]) },
        turn: { kind: 'i32', values: Int32Array.from(rows, (r) => r[1]) },
        logprob: { kind: 'f64', values: Float64Array.from(rows, (r) => r[2]) },
        logprob_kind: text('raw'),
      },
    });
  }
}

const trainedOn = fc.constantFrom<TrainedOn>('none', 'unknown', { sources: [], tasks: ['t1', 't4'] });

test.prop([world, trainedOn, fc.constantFrom(1, 0.9)], { numRuns: 25 })(
  'a scan gives the audit of the loaded logs',
  async (w, trained, discount) => {
    const store = await storeOf(w.episodes);
    try {
      await withScores(store, w, trained);
      const scanned = await auditStore(store, ['a', 'b'], { config: { discount } });
      for (const [k, target] of ['a', 'b'].entries()) {
        if (w.scores.a.every((x) => x.length === 0)) continue;
        const loaded = await auditTarget(store, target, { config: { discount } });
        closeTo(comparable(scanned[k]!), comparable(loaded), 1e-9);
        closeTo(thirdMoments(scanned[k]!), thirdMoments(loaded), 1e-7);
      }
    } finally {
      store.close();
    }
  },
);

test('threads over ranges of a file give what one scan gives', async () => {
  const path = join(folder, 'threads.duckdb');
  const made = await openStore(path, { mode: 'create' });
  await fill(made, simulated(12, 6, 3));
  made.close();
  const store = await openStore(path, { mode: 'read' });
  try {
    const file = join(folder, 'soft.json');
    writeFileSync(file, JSON.stringify(policyFile('soft', 'none')));
    const [alone] = await auditStore(store, [file], { threads: 1 });
    const [threaded] = await auditStore(store, [file], { threads: 3 });
    expect(alone!.evaluation!.estimates).toHaveLength(6);
    closeTo(threaded, alone, 1e-12);
  } finally {
    store.close();
  }
});

test('threads refuse as one scan does, by name', async () => {
  const path = join(folder, 'refused.duckdb');
  const made = await openStore(path, { mode: 'create' });
  await fill(made, simulated(12, 6, 3));
  made.close();
  const file = join(folder, 'first-turn.json');
  const rules = [{ when: { turn: 0 }, probabilities: { cheap: 1 } }];
  writeFileSync(file, JSON.stringify({ policy: 'p', trained_on: 'none', rules }));
  const store = await openStore(path, { mode: 'read' });
  try {
    for (const threads of [1, 3]) {
      const refused = await auditStore(store, [file], { threads }).catch((error) => error);
      expect(refused).toBeInstanceOf(TurnwiseError);
      expect(refused).toMatchObject({
        exitCode: 1,
        message: expect.stringMatching(/no rule covers episode 0 turn 1/),
      });
    }
  } finally {
    store.close();
  }
});

for (const name of ['soft', 'patient', 'eager'] as const)
  test(`a policy file is scanned as it is loaded: ${name}`, async () => {
    const store = await storeOf(simulated(15, 8, 5));
    try {
      const file = join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(policyFile(name, { sources: [], tasks: ['task-3'] })));
      const [scanned] = await auditStore(store, [file]);
      const loaded = await auditTarget(store, file);
      // Fitted Q-values need the turns in memory: the importance-sampling family is what both have.
      const family = new Set(scanned!.evaluation!.estimates.map((e) => e.estimator));
      const own = {
        ...loaded,
        evaluation: {
          ...loaded.evaluation!,
          estimates: loaded.evaluation!.estimates.filter((e) => family.has(e.estimator)),
        },
      };
      closeTo(comparable(withoutNotes(scanned!)), comparable(withoutNotes(own)), 1e-9);
      closeTo(thirdMoments(scanned!), thirdMoments(own), 1e-7);
    } finally {
      store.close();
    }
  });
