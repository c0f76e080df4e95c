import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { auditCommand } from '../../src/cli/audit.ts';
import { evaluateCommand } from '../../src/cli/evaluate.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { Audit } from '../../src/schema/audit.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { openStore } from '../../src/store/store.ts';
import exact from '../fixtures/agent-turns-exact.json' with { type: 'json' };
import { policyFile, simulated } from '../helpers/agent-turns.ts';
import { run } from '../helpers/run-command.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnwise-details-'));
const path = (name: string) => join(dir, name);

async function makeStore(name: string, episodes: readonly EpisodeInput[]): Promise<void> {
  writeFileSync(path(`${name}.jsonl`), episodes.map((e) => `${JSON.stringify(e)}\n`).join(''));
  const store = await openStore(path(`${name}.duckdb`), { mode: 'create' });
  try {
    await ingest(store, [path(`${name}.jsonl`)]);
  } finally {
    store.close();
  }
}

beforeAll(async () => {
  const episodes = simulated(200, 10, 4);
  await makeStore('logs', episodes);
  await makeStore(
    'classes',
    episodes.slice(0, 1000).map((e) => ({
      ...e,
      turns: e.turns!.map(({ behaviour_log_propensity: _, ...t }) => t),
    })),
  );
  await makeStore(
    'bare',
    episodes.slice(0, 20).map((e) => ({ ...e, turns: e.turns!.map((t) => ({ reward: t.reward! })) })),
  );
  for (const name of ['soft', 'behaviour'] as const)
    writeFileSync(path(`${name}.json`), JSON.stringify(policyFile(name)));
});

const args = (store: string, ...more: string[]) => [
  '--store',
  path(`${store}.duckdb`),
  '--target',
  path('soft.json'),
  ...more,
];

test('without propensities they can be estimated: labelled, weak at best, and near the truth', async () => {
  expect((await run(auditCommand, ...args('classes'))).out).toMatch(/^refused/);
  const { out, code } = await run(auditCommand, ...args('classes', '--estimate-propensities', '--json'));
  expect(code).toBe(3);
  const audit = Audit.parse(JSON.parse(out));
  expect(audit.verdict).toBe('weak');
  expect(audit.reasons.map((r) => r.code)).toContain('estimated-propensities');
  expect(audit.warnings.map((w) => w.code)).toContain('estimated-propensities');
  const d = audit.diagnostics!;
  expect(d).toMatchObject({
    propensities: 'estimated',
    behaviour: { probabilities: 'estimated', reason: null },
  });
  expect(d.calibration!.sumError).toBeLessThan(1e-12);
  expect(d.calibration!.logLoss!).toBeLessThan(d.calibration!.logLossConstant);
  const wis = audit.evaluation!.estimates.find((e) => e.estimator === 'WIS')!;
  expect(Math.abs(wis.value! - exact.policies.soft.V)).toBeLessThan(4 * wis.se!);
  const again = await run(auditCommand, ...args('classes', '--estimate-propensities', '--json'));
  expect(again.out).toBe(out);
  const passed = await run(auditCommand, ...args('classes', '--estimate-propensities', '--require', 'weak'));
  expect(passed.code).toBe(0);
  expect(passed.out).toMatch(/weak .*propensities are estimated/);
});

test('evaluate takes estimated propensities too', async () => {
  const { out, code } = await run(
    evaluateCommand,
    ...args('classes', '--estimate-propensities', '--require', 'weak'),
  );
  expect(code).toBe(0);
  expect(out).toMatch(/^weak/);
  expect(out).toMatch(/weak .*propensities are estimated/);
});

test('without action classes there is nothing to estimate', async () => {
  await expect(run(auditCommand, ...args('bare', '--estimate-propensities'))).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(/column action_class: is missing, so its propensity cannot be estimated/),
  });
});

test('--behaviour opens the diagnostics that need all its probabilities', async () => {
  const without = Audit.parse(JSON.parse((await run(auditCommand, ...args('logs', '--json'))).out))
    .diagnostics!;
  expect(without.behaviour.reason).toMatch(/declare the behaviour policy/);
  expect(without.realistic).toBeNull();
  expect(without.stages[0]!.positivity!.from).toBe('logged actions');
  const { out } = await run(auditCommand, ...args('logs', '--behaviour', path('behaviour.json'), '--json'));
  const audit = Audit.parse(JSON.parse(out));
  expect(audit.verdict).toBe('supported');
  const d = audit.diagnostics!;
  expect(d.behaviour).toEqual({ probabilities: 'declared', reason: null });
  const wis = audit.evaluation!.estimates.find((e) => e.estimator === 'WIS')!;
  expect(d.realistic![0]!.value).toBeCloseTo(wis.value!, 12); // α = 0 leaves the target as it is
  expect(d.rules).toEqual([]);
  expect(d.unsupportedBounds!.mass).toBe(0);
  const wrong = await run(auditCommand, ...args('logs', '--behaviour', path('soft.json')));
  expect(wrong.err).toMatch(/the declared behaviour gives the logged action another propensity/);
});

test('--details prints them compactly, with the features of a critic', async () => {
  const { out } = await run(
    auditCommand,
    ...args('logs', '--behaviour', path('behaviour.json'), '--details'),
  );
  for (const part of [
    /In detail\n/,
    /Positivity and balance by turn/,
    /Value with capped weights/,
    /The target within realistic actions/,
    /Propensities \(logged\): log-loss/,
    /Features of a linear critic/,
  ])
    expect(out).toMatch(part);
  expect(out.split('\n').every((line) => line.length < 220)).toBe(true);
});
