import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { auditCommand } from '../../src/cli/audit.ts';
import type { Command } from '../../src/cli/command.ts';
import { evaluateCommand } from '../../src/cli/evaluate.ts';
import { reportCommand } from '../../src/cli/report.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { Audit } from '../../src/schema/audit.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { TurnwiseError } from '../../src/schema/error.ts';
import { AuditedEvaluation, RefusedEvaluation } from '../../src/schema/evaluation-result.ts';
import { Report } from '../../src/schema/report.ts';
import { openStore } from '../../src/store/store.ts';
import { policyFile, simulated } from '../helpers/agent-turns.ts';
import { run } from '../helpers/run-command.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnwise-audit-'));
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
    'bare',
    episodes.slice(0, 20).map((e) => ({ ...e, turns: e.turns.map((t) => ({ reward: t.reward! })) })),
  );
  await makeStore(
    'mix',
    episodes.slice(0, 600).map((e, i) => ({ ...e, policy: i % 3 === 0 ? 'new' : 'old' })),
  );
  for (const name of ['soft', 'patient', 'eager'] as const)
    writeFileSync(path(`${name}.json`), JSON.stringify(policyFile(name)));
  writeFileSync(path('unsaid.json'), JSON.stringify(policyFile('soft', 'unknown')));
});

const failed = async (command: Command, ...args: string[]): Promise<TurnwiseError> =>
  run(command, ...args).then(
    ({ out }) => {
      throw new Error(`was accepted: ${out}`);
    },
    (e) => e as TurnwiseError,
  );
const logs = () => ['--store', path('logs.duckdb')];

test('audit: verdict in words first, exit code by verdict', async () => {
  const soft = await run(auditCommand, ...logs(), '--target', path('soft.json'), '--range', '-0.3,1');
  expect(soft.out).toMatch(/^supported: the logs cover "soft"/);
  expect(soft.out).toMatch(/declared range/);
  expect(soft.out).toMatch(/ESS carried/);
  expect(soft.code).toBe(0);
  const patient = await run(auditCommand, ...logs(), '--target', path('patient.json'), '--require', 'weak');
  expect(patient.out).toMatch(/^refused: these logs cannot say what "patient" is worth\n {2}refused {2}/);
  expect(patient.out).toMatch(/What to collect next/);
  expect(patient.code).toBe(3);
});

test('audit --json prints the record and nothing else', async () => {
  const { out, err } = await run(auditCommand, ...logs(), '--target', path('eager.json'), '--json');
  expect(Audit.parse(JSON.parse(out)).target).toBe('eager');
  expect(err).toBe('');
  const again = await run(auditCommand, ...logs(), '--target', path('eager.json'), '--json');
  expect(again.out).toBe(out);
});

test('weak passes only where weak is enough', async () => {
  const args = [...logs(), '--target', path('unsaid.json')];
  expect((await run(auditCommand, ...args)).code).toBe(3);
  expect((await run(auditCommand, ...args, '--require', 'weak')).code).toBe(0);
  const told = await run(auditCommand, ...args, '--trained-on', 'none');
  expect(told.code).toBe(0);
  expect(told.err).toMatch(/--trained-on none stands for what the target says/);
});

test('--trained-on FILE moves tasks out', async () => {
  writeFileSync(path('trained.json'), JSON.stringify({ sources: [path('logs.jsonl')] }));
  const all = await run(
    auditCommand,
    ...logs(),
    '--target',
    path('soft.json'),
    '--trained-on',
    path('trained.json'),
    '--json',
  );
  expect(JSON.parse(all.out).reasons[0].code).toBe('trained-on-these-logs');
  writeFileSync(path('trained.json'), JSON.stringify({ tasks: ['task-0', 'task-1'] }));
  const two = await run(
    auditCommand,
    ...logs(),
    '--target',
    path('soft.json'),
    '--trained-on',
    path('trained.json'),
    '--json',
  );
  expect(JSON.parse(two.out).evaluation.episodes).toMatchObject({ used: 1980, trainedOn: 20 });
});

test('without behaviour log-probabilities any target is refused, an unknown one too', async () => {
  for (const target of [path('soft.json'), 'no-such-policy']) {
    const { code, out } = await run(auditCommand, '--store', path('bare.duckdb'), '--target', target);
    expect(code).toBe(3);
    expect(out).toMatch(/^refused/);
    expect(out).toMatch(/Log behaviour_log_propensity on every turn/);
    const e = await failed(evaluateCommand, '--store', path('bare.duckdb'), '--target', target);
    expect(e.exitCode).toBe(3);
    expect(e.message).toMatch(/the target was not looked at/);
  }
});

test('… under the name of its file, and with a word on a file that is not there', async () => {
  const bare = (target: string) => run(auditCommand, '--store', path('bare.duckdb'), '--target', target);
  const soft = await bare(path('soft.json'));
  expect(soft.out).toMatch(/what "soft" is worth/);
  expect(soft.err).toMatch(/the target was not looked at: the logs are refused whatever it is\n/);
  const gone = await bare(path('gone.json'));
  expect(gone.code).toBe(3);
  expect(gone.err).toMatch(/not looked at.*; there is no file .*gone\.json/);
  expect((await bare('no-such-policy')).err).not.toMatch(/no file/);
});

test('what is no target says why', async () => {
  expect((await failed(auditCommand, ...logs(), '--target', path('gone.json'))).message).toMatch(
    /no such file/,
  );
  const mix = (target: string, ...more: string[]) =>
    [auditCommand, '--store', path('mix.duckdb'), '--target', target, ...more] as const;
  const acted = await failed(...mix('new'));
  expect(acted.exitCode).toBe(2);
  expect(acted.message).toMatch(/"new": acted in these logs.*Use turnwise compare/s);
});

test('--policy takes some of the behaviours, in audit and evaluate', async () => {
  const args = ['--store', path('mix.duckdb'), '--target', path('soft.json'), '--require', 'weak', '--json'];
  const all = Audit.parse(JSON.parse((await run(auditCommand, ...args)).out));
  expect(all.warnings.find((w) => w.code === 'several-behaviours')!.message).toMatch(
    /2 policies \(new, old\)/,
  );
  const one = Audit.parse(JSON.parse((await run(auditCommand, ...args, '--policy', 'new')).out));
  expect(one.warnings.map((w) => w.code)).not.toContain('several-behaviours');
  expect(one.evaluation!.episodes.total).toBe(200);
  const both = await run(evaluateCommand, ...args, '--policy', 'new', '--policy', 'old');
  expect(AuditedEvaluation.parse(JSON.parse(both.out)).episodes.total).toBe(600);
});

test('a reason has its number once, and what would do', async () => {
  const few = await run(auditCommand, '--store', path('mix.duckdb'), '--target', path('patient.json'));
  expect(few.out).toMatch(/episodes are worth [\d.]+ under the target \(at least 30 needed\)/);
  expect(few.out).not.toMatch(/, limit \d/);
  const soft = await run(auditCommand, ...logs(), '--target', path('soft.json'));
  expect(soft.out).toMatch(/WIS .*weighted importance sampling/);
  expect(soft.out.match(/effective sample size \(ESS\)/g)).toHaveLength(1);
});

test('usage errors exit 2', async () => {
  const e = await failed(auditCommand, ...logs(), '--target', 'no-such-policy');
  expect(e.exitCode).toBe(2);
  expect(e.message).toMatch(/"no-such-policy", expected the path of a policy file/);
  const with_ = (...more: string[]) =>
    failed(auditCommand, ...logs(), '--target', path('soft.json'), ...more);
  for (const bad of [
    ['--range', '1,0'],
    ['--range', '1'],
    ['--range', 'a,b'],
    ['--require', 'fine'],
    ['--seed', '-1'],
    ['--seed', '1.5'],
    ['--seed', 'x'],
    ['--policy', 'nobody'],
    ['--trained-on', 'nowhere.json'],
  ])
    expect((await with_(...bad)).exitCode, bad.join(' ')).toBe(2);
  expect((await with_('--range', '0,0.5')).message).toMatch(
    /a logged return lies outside the declared range/,
  );
});

test('evaluate: all estimators with conventions, the verdict first', async () => {
  const { out, code } = await run(evaluateCommand, ...logs(), '--target', path('soft.json'));
  expect(code).toBe(0);
  expect(out).toMatch(/^supported/);
  for (const name of [
    'mean return',
    'IS',
    'WIS',
    'PDIS',
    'WPDIS carried',
    'WPDIS alive',
    'WPDIS alive-mean-over-n',
  ])
    expect(out).toContain(`\n  ${name} `);
  expect(out).toMatch(/CWPDIS as published/);
  const json = await run(evaluateCommand, ...logs(), '--target', path('patient.json'), '--json');
  const record = AuditedEvaluation.parse(JSON.parse(json.out));
  expect(record.verdict).toBe('refused');
  expect(record.estimates.every((e) => e.interval === null)).toBe(true);
  expect(json.code).toBe(3);
});

test('evaluate --json prints the refusal of audit --json where there is no number at all', async () => {
  const tasks = { tasks: simulated(200, 10, 4).map((e) => e.task_id) };
  writeFileSync(path('all-tasks.json'), JSON.stringify(tasks));
  for (const [args, code] of [
    [['--store', path('bare.duckdb'), '--target', path('soft.json')], 'no-behaviour'],
    [
      [...logs(), '--target', path('soft.json'), '--trained-on', path('all-tasks.json')],
      'trained-on-these-logs',
    ],
  ] as const) {
    const evaluated = await run(evaluateCommand, ...args, '--json');
    const record = RefusedEvaluation.parse(JSON.parse(evaluated.out));
    const audited = Audit.parse(JSON.parse((await run(auditCommand, ...args, '--json')).out));
    expect([evaluated.code, evaluated.err]).toEqual([3, '']);
    expect(record.reasons.map((r) => r.code)).toEqual([code]);
    const { verdict, reasons, next, target, trainedOn, warnings } = audited;
    expect(record).toMatchObject({ verdict, reasons, next, target, trainedOn, warnings });
  }
});

test('report audits its targets with estimated propensities; flags of an audit need a target', async () => {
  const unlogged = simulated(40, 10, 4).map((e) => ({
    ...e,
    turns: e.turns.map(({ behaviour_log_propensity: _, ...turn }) => turn),
  }));
  await makeStore('unlogged', unlogged);
  const args = ['--store', path('unlogged.duckdb'), '--json'];
  const reasonsOf = async (...more: string[]) => {
    const { out } = await run(reportCommand, ...args, '--target', path('soft.json'), ...more);
    return Report.parse(JSON.parse(out)).targets[0]!.audit.reasons.map((r) => r.code);
  };
  expect(await reasonsOf()).toEqual(['no-behaviour']);
  expect(await reasonsOf('--estimate-propensities')).toContain('estimated-propensities');
  for (const flags of [['--estimate-propensities'], ['--range', '0,1'], ['--trained-on', 'none']]) {
    const error = await failed(reportCommand, ...args, ...flags);
    expect(error.message).toBe(`${flags[0]}: is for the audit of a target, and none is named. Add --target.`);
    expect(error.exitCode).toBe(2);
  }
});

test('evaluate says a note once, however many estimators it is of', async () => {
  await makeStore('one', simulated(1, 10, 4).slice(0, 1));
  const { out } = await run(evaluateCommand, '--store', path('one.duckdb'), '--target', path('soft.json'));
  expect(out.match(/one task gives no standard error/g)).toHaveLength(1);
  expect(out).toContain('from 1 episode of 1 task,');
});
