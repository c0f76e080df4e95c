/*
 * Small logs of two turns with known propensities, supported for a target near by, and what the command line and the
 * two ways to read a store say of them once they are spoilt.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { auditCommand } from '../../src/cli/audit.ts';
import { evaluateCommand } from '../../src/cli/evaluate.ts';
import { ingestCommand } from '../../src/cli/ingest.ts';
import { openStore } from '../../src/store/store.ts';
import { run } from './run-command.ts';
import { plant } from './store.ts';

export const folder = mkdtempSync(join(tmpdir(), 'turnwise-refused-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

export type Log = Record<string, unknown>;
export interface LoggedEpisode extends Log {
  readonly episode_id: string;
  readonly reward: number;
  readonly turns: readonly Log[];
}
/** 40 tasks, 8 rollouts of two turns each: a by a coin, then by ¼. G is 1 on every other rollout of a task. */
const B = [0.5, 0.25];
export const logs: LoggedEpisode[] = Array.from({ length: 320 }, (_, i) => {
  const k = Math.floor(i / 40);
  const classes = [k < 4 ? 'a' : 'b', k % 4 === 0 ? 'a' : 'b'];
  return {
    episode_id: `run-${i}`,
    task_id: `task-${i % 40}`,
    ending: 'terminated',
    reward: (i + k) % 2,
    turns: classes.map((action_class, t) => {
      const b = Math.log(action_class === 'a' ? B[t]! : 1 - B[t]!);
      return {
        action_class,
        behaviour_log_propensity: b,
        behaviour_logprob: b - 3 - t,
        logprob_kind: 'raw',
        features: [t],
      };
    }),
  };
});
/** The target takes a with .6, then with .3; whole actions have further tokens, as likely under both. */
const PI = [0.6, 0.3];
export const candidate = {
  policy: 'cand',
  trained_on: 'none',
  rules: PI.map((a, turn) => ({ when: { turn }, probabilities: { a, b: 1 - a } })),
};
export const scores: Log[] = logs.flatMap(({ episode_id, turns }) =>
  turns.map(({ action_class }, turn) => ({
    policy: 'cand',
    trained_on: 'none',
    episode_id,
    turn,
    logprob: Math.log(action_class === 'a' ? PI[turn]! : 1 - PI[turn]!) - 3 - turn,
    logprob_kind: 'raw',
  })),
);
/** The turns of the logs, changed; the scores, changed or left out. */
export const turnsOf = (change: (turn: Log, run: string, t: number) => Log): LoggedEpisode[] =>
  logs.map((e) => ({ ...e, turns: e.turns.map((x, t) => change(x, e.episode_id, t)) }));
export const scored = (change: (score: Log) => Log | null): Log[] =>
  scores.flatMap((s) => {
    const changed = change(s);
    return changed === null ? [] : [changed];
  });
/** Turn 1 of rollout 7, and nothing else. */
export const once = (column: string, value: unknown) => (x: Log, run: string, t: number) =>
  run === 'run-7' && t === 1 ? { ...x, [column]: value } : x;

const message = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'was accepted',
    (e) => (e as Error).message,
  );

interface Input {
  readonly episodes?: readonly object[];
  /** Absent: the target is the policy file. */
  readonly scores?: readonly Log[];
  readonly file?: object;
  /** SQL on the finished store: what no log file can hold, but an imported table can. */
  readonly planted?: string;
}
let stores = 0;
/** A store made through the command line, and its target. */
export async function made({ episodes = logs, scores: lines, file = candidate, planted }: Input) {
  const path = (name: string) => join(folder, `${stores}-${name}`);
  stores++;
  const store = path('store.duckdb');
  const lined = (rows: readonly object[]) => rows.map((x) => `${JSON.stringify(x)}\n`).join('');
  // JSON has no −∞, but 1e999 is one.
  writeFileSync(path('log.jsonl'), lined(episodes).replaceAll('"-1e999"', '-1e999'));
  const said = [await run(ingestCommand, path('log.jsonl'), '--store', store)];
  if (lines) {
    writeFileSync(path('scores.jsonl'), lined(lines));
    said.push(await run(ingestCommand, path('scores.jsonl'), '--store', store));
  } else writeFileSync(path('cand.json'), JSON.stringify(file));
  if (planted !== undefined) {
    const open = await openStore(store, { mode: 'write' });
    await plant(open, planted);
    open.close();
  }
  return { store, target: lines ? 'cand' : path('cand.json'), said };
}
/** The refusal, of the commands and of the two ways to read the store: one and the same. */
export async function refusal(input: Input, ...flags: string[]): Promise<string> {
  const { store, target } = await made(input);
  const args = ['--store', store, '--target', target, ...flags];
  const said = await message(run(auditCommand, ...args));
  expect(await message(run(evaluateCommand, ...args))).toBe(said);
  expect(await message(run(evaluateCommand, ...args, '--target', target))).toBe(said); // of several targets
  if (flags.length > 0) return said;
  const open = await openStore(store, { mode: 'read' });
  try {
    for (const scanAbove of [1e9, 0])
      expect(await message(auditTarget(open, target, { scanAbove })), `${scanAbove}`).toBe(said);
  } finally {
    open.close();
  }
  return said;
}
/** The verdict with its reasons, loaded and scanned; the command line agrees. */
export async function reasons(input: Input): Promise<string[]> {
  const { store, target } = await made(input);
  const open = await openStore(store, { mode: 'read' });
  const [loaded, scanned] = await Promise.all(
    [1e9, 0].map((scanAbove) => auditTarget(open, target, { scanAbove })),
  );
  open.close();
  const found = loaded!.reasons.map((r) => `${r.verdict} ${r.code}`);
  expect(scanned!.reasons.map((r) => `${r.verdict} ${r.code}`)).toEqual(found);
  expect(scanned!.reasons.map((r) => r.message)).toEqual(loaded!.reasons.map((r) => r.message));
  const args = ['--store', store, '--target', target];
  for (const command of [auditCommand, evaluateCommand]) {
    const { code, out } = await run(command, ...args);
    expect(code).toBe(loaded!.verdict === 'supported' ? 0 : 3);
    expect(out.startsWith(`${loaded!.verdict}: `)).toBe(true);
    for (const r of loaded!.reasons) expect(out).toContain(r.message);
    if (loaded!.verdict === 'weak') expect((await run(command, ...args, '--require', 'weak')).code).toBe(0);
  }
  return found;
}
