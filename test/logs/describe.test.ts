/*
 * Every real log that a format reads, described and checked; the figures come from a second reader that
 * walks the raw JSON (raw-reader.ts) and from plain sums over what it saw (raw-figures.ts).
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeCommand } from '../../src/cli/describe.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { check } from '../../src/inspect/check.ts';
import { describe as describeStore } from '../../src/inspect/describe.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { run } from '../helpers/run-command.ts';
import { agree } from './agree.ts';
import { LOGS, missing, skipped } from './logs.ts';
import * as raw from './raw-figures.ts';
import type { Outcome } from './raw-outcome.ts';
import { type RawCall, type RawEpisode, readAtif, readChat, readTauBench } from './raw-reader.ts';
import { type Rewriting, rewritings } from './rewritten.ts';

interface Log {
  readonly name: string;
  readonly format: string;
  /** Files for `ingest`, and what a second reader finds in them. */
  open(folder: string): { readonly paths: readonly string[]; readonly episodes: readonly RawEpisode[] };
}

const airline = join(LOGS, 'tau-bench/gpt-4o-airline.json');
const logs: Log[] = [
  {
    name: 'tau-bench/gpt-4o-airline.json',
    format: 'tau-bench',
    open: () => ({ paths: [airline], episodes: readTauBench(airline) }),
  },
  ...[
    'chat/tinker_conversations.jsonl',
    'mini-swe-agent/github_issue.traj.json',
    'mini-swe-agent/local.traj.json',
  ].map((name) => ({
    name,
    format: 'chat',
    open() {
      const path = join(LOGS, name);
      return { paths: [path], episodes: readChat(path) };
    },
  })),
  ...['harbor_openhands.json', 'harbor_terminus2_summarization.json'].map((name) => ({
    name: `atif/${name}`,
    format: 'atif',
    open() {
      const path = join(LOGS, 'atif', name);
      return { paths: [path], episodes: [readAtif(path)] };
    },
  })),
  {
    name: 'atif/harbor_terminus2_continuation.json and its second file, under their Harbor names',
    format: 'atif',
    open(folder) {
      const path = join(folder, 'trajectory.json');
      copyFileSync(join(LOGS, 'atif/harbor_terminus2_continuation.json'), path);
      copyFileSync(
        join(LOGS, 'atif/harbor_terminus2_continuation_cont1.json'),
        join(folder, 'trajectory.cont-1.json'),
      );
      return { paths: [path], episodes: [readAtif(path)] };
    },
  },
  // The same runs in the other shapes in which agents log: what is known of a success differs, nothing else.
  ...rewritings.map((as) => ({
    name: `the airline log as ${as.name}`,
    format: as.format,
    open(folder: string) {
      const path = as.write(airline, folder);
      return { paths: [path], episodes: retold(readTauBench(airline), as, path) };
    },
  })),
];

/** The episodes as another log of the same runs tells them. */
function retold(episodes: readonly RawEpisode[], as: Rewriting, path: string): RawEpisode[] {
  const policy = basename(path).replace(/\.\w+$/, '');
  return episodes.map((e) => ({
    ...e,
    id: `${policy}/${e.task!.replace('airline/', '')}/${e.trial}`,
    policy,
    turns: e.turns.map((t) => ({
      ...t,
      action: as.actionOf(t),
      observation: as.callsInText ? null : t.observation,
      calls: t.calls.map((c) => ({
        ...c,
        outcome: c.outcome === 'worked' && !as.marksSuccess ? ('unknown' as const) : c.outcome,
      })),
    })),
  }));
}

const OUTCOMES = new Map<unknown, Outcome>([
  [true, 'failed'],
  [false, 'worked'],
]);

/** A stored call as the second reader tells it. */
// biome-ignore lint/suspicious/noExplicitAny: the program's JSON.
const asRaw = (c: any) => ({
  tool: c.name,
  arguments: c.arguments,
  answer: c.result ?? null,
  outcome: OUTCOMES.get(c.error ?? null) ?? 'unknown',
});

/** Arguments that the log holds as the text of their JSON, as what they say. */
const parsed = (c: RawCall) => ({
  ...c,
  arguments: typeof c.arguments === 'string' ? JSON.parse(c.arguments) : c.arguments,
});

describe.skipIf(missing).each(logs.map((log) => [log.name, log] as const))(
  `%s${skipped}`,
  (_, { format, open }) => {
    let folder: string;
    let path: string;
    let episodes: readonly RawEpisode[];
    let told: Awaited<ReturnType<typeof describeStore>>;
    let checked: Awaited<ReturnType<typeof check>>;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'turnwise-logs-'));
      path = join(folder, 'log.duckdb');
      const opened = open(folder);
      episodes = opened.episodes;
      const store = await openStore(path, { mode: 'create' });
      try {
        const { files } = await ingest(store, opened.paths);
        expect(files).toMatchObject([{ format, episodes: episodes.length, rejects: 0 }]);
        told = await describeStore(store);
        checked = await check(store);
      } finally {
        store.close();
      }
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test('episodes, turns, tasks, trials and endings', () => {
      const turns = episodes.map((e) => e.turns.length);
      const tasks = raw.groupBy(
        episodes.filter((e) => e.task !== null),
        (e) => e.task!,
      );
      const trials = [...tasks.values()].map((of) => of.length);
      agree(told, {
        episodes: episodes.length,
        turns: turns.reduce((a, b) => a + b),
        tasks: tasks.size,
        turnsPerEpisode: raw.spread(turns),
        endings: raw.endings(episodes),
        trialsPerTask:
          trials.length === 0
            ? null
            : {
                min: Math.min(...trials),
                mean: raw.mean(trials),
                max: Math.max(...trials),
                histogram: raw.histogram(trials).map(([value, times]) => ({ trials: value, tasks: times })),
              },
        rejects: { count: 0, reasons: [] },
      });
    });

    test('calls by tool, and what is known of their failures', () => {
      expect(told.tools).toEqual(raw.toolTable(episodes));
    });

    test('policies: episodes, mean reward, failures', () => {
      const of = raw.groupBy(episodes, (e) => e.policy);
      agree(
        told.policies,
        [...of].map(([policy, own]) => ({
          policy,
          episodes: own.length,
          n: own.filter((e) => e.reward !== null).length,
          meanReward: raw.rewardFigures(own)?.mean ?? null,
          toolErrors: raw.toolErrors(raw.callsOf(own)),
        })),
      );
    });

    test('rewards: mean, its errors under both estimands, successes by task, pass^k', () => {
      const want = raw.rewardFigures(episodes);
      if (want === null) {
        expect([told.reward, told.successHistogram, told.passHatK]).toEqual([null, null, null]);
        return;
      }
      const { theseTasks, ...rest } = want;
      agree(told.reward, { ...rest, theseTasks: { se: theseTasks } });
      const byTask = [...raw.groupBy(episodes, (e) => e.task).values()].map((of) => of.map((e) => e.reward!));
      const successes = byTask.map((x) => x.filter((r) => r === 1).length);
      agree(told, {
        successHistogram: raw
          .histogram(successes)
          .map(([value, times]) => ({ successes: value, tasks: times })),
        zeroVarianceTasks: byTask.filter((x) => new Set(x).size === 1).length,
        passHatK: raw.passHatK(episodes),
      });
    });

    test('each episode by itself', async () => {
      const { out } = await run(describeCommand, '--store', path, '--episodes', '--json');
      const listed = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(listed).toEqual(
        episodes.map((e) => ({
          episode: e.id,
          task: e.task,
          policy: e.policy,
          ending: e.ending,
          return: e.reward,
          turns: e.turns.length,
        })),
      );
    });

    test('each turn: what was seen, said, called, answered and measured', async () => {
      const store = await openStore(path, { mode: 'read' });
      let stored: Record<string, unknown>[];
      try {
        stored = await queryRows(
          store,
          `SELECT observation, action, tool_calls::VARCHAR AS calls, behaviour_logprob AS logprob, n_action_tokens AS tokens
         FROM turns ORDER BY episode, turn`,
        );
        const costs = await queryRows(store, 'SELECT cost FROM episodes ORDER BY episode');
        agree(
          costs.map((c) => c.cost),
          episodes.map((e) => e.cost),
        );
      } finally {
        store.close();
      }
      const turns = episodes.flatMap((e) => e.turns);
      expect(stored.length).toBe(turns.length);
      for (const [i, want] of turns.entries()) {
        const { observation, calls, ...got } = stored[i]!;
        if (want.observation !== null) expect(observation ?? '').toBe(want.observation);
        agree(got, { action: want.action, logprob: want.logprob, tokens: want.tokens });
        expect(got.action).toBe(want.action);
        expect(JSON.parse((calls as string | null) ?? '[]').map(asRaw)).toEqual(want.calls.map(parsed));
      }
    });

    test('tokens', () => {
      const perTurn = episodes.flatMap((e) => e.turns.flatMap((t) => t.tokens ?? []));
      if (perTurn.length === 0) {
        expect(told.tokens).toBeNull();
        return;
      }
      const { segments, tokens, sampled } = raw.tokenFigures(episodes);
      agree(told.tokens, {
        segments,
        tokens,
        actionTokens: segments === 0 ? perTurn.reduce((a, b) => a + b) : sampled,
        perTurn: raw.spread(perTurn),
      });
    });

    test('check finds what is wrong with it, and nothing else', () => {
      expect(Object.fromEntries(checked.findings.map((f) => [f.code, f.count]))).toEqual(
        raw.findings(episodes),
      );
    });
  },
);
