import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { creditCommand } from '../../src/cli/credit.ts';
import { describeCommand } from '../../src/cli/describe.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { Credit } from '../../src/schema/credit.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';

let folder: string;
let path: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-credit-'));
  path = join(folder, 'runs.duckdb');
  const log = join(folder, 'runs.jsonl');
  const episodes = [...simulateToolAgent({ tasks: 40, episodes: 400, seed: 0 })];
  const cut = { ...episodes[0]!, episode_id: 'cut-short', ending: 'truncated' as const };
  writeFileSync(log, [...episodes, cut].map((e) => `${JSON.stringify(e)}\n`).join(''));
  const store = await openStore(path, { mode: 'create' });
  await ingest(store, [log]);
  store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ out: string; err: string }> {
  let out = '';
  let err = '';
  const io = {
    out(text: string) {
      out += text;
    },
    err(text: string) {
      err += text;
    },
    progress() {},
    stdin: process.stdin,
  };
  const all = ['--store', path, '--placebos', '3', ...args];
  const { values, positionals } = readArguments(creditCommand, all);
  expect(await creditCommand.run(values, positionals, io)).toBe(0);
  return { out, err };
}

const anId = async (): Promise<string> =>
  Credit.parse(JSON.parse((await run('--json')).out)).episodes[7]!.episode;

describe('turnwise credit', () => {
  test('--json holds to its schema, with every finished episode; δ sums to the return less V(s₀)', async () => {
    const result = Credit.parse(JSON.parse((await run('--json')).out));
    expect(result.episodes).toHaveLength(400);
    expect(Object.keys(result)).toEqual(
      expect.arrayContaining(['critic', 'heldOut', 'constant', 'placebo', 'warnings', 'episodes']),
    );
    for (const e of result.episodes) {
      const sum = e.turns.reduce((s, k) => s + k.delta, 0);
      expect(Math.abs(sum - (e.return - e.turns[0]!.v))).toBeLessThan(1e-9);
      e.turns.forEach((k, i) => {
        const after = e.turns[i + 1]?.v ?? 0;
        expect(Math.abs(k.reward + after - k.v - k.delta)).toBeLessThan(1e-12);
      });
    }
    expect(result.warnings.map((w) => w.code)).toContain('excluded-episodes');
    expect(result.excluded.truncated).toBe(1);
  });

  test('the same seed prints the same bytes', async () => {
    expect((await run('--json', '--seed', '4')).out).toBe((await run('--json', '--seed', '4')).out);
  });

  test('the summary names critic, constant and placebo, the actions and the label', async () => {
    const { out, err } = await run();
    for (const part of ['critic ', 'constant ', 'constant by turn', 'placebo', 'class=submit', 'Calibration'])
      expect(out).toContain(part);
    expect(out).toContain('class=think, tool=reason');
    expect(out).toMatch(/Marked by the contrast: [\s\S]* 3\s+actions\s+compared/);
    expect(out).toContain('under logged propensities');
    expect(err).toContain('1 truncated');
  });

  test('one episode, turn by turn, with the rule of its marks', async () => {
    const { out } = await run('--episode', await anId());
    expect(out).toMatch(/V before +reward +V after +δ +A ± se/);
    expect(out).toMatch(/beyond\s+[34]\.\d\d\s+of\s+their\s+own\s+standard\s+errors/);
    expect(out).toMatch(/Σδ = .* = return .* less V before turn 0/);
  });

  test('an unknown episode is a usage error that names ids like it', async () => {
    const id = await anId();
    const wrong = run('--episode', `${id.slice(0, -1)}x`);
    await expect(wrong).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(id.slice(0, -1)),
    });
  });

  test('an id like no other is answered with three that exist and how to list them; describe lists them', async () => {
    await expect(run('--episode', 'something else altogether, quite unlike')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/for instance ([^,]+, ){2}[^,]+\. .*describe --episodes/),
    });
    let out = '';
    const io = { out: (text: string) => (out += text), err() {}, progress() {}, stdin: process.stdin };
    const { values } = readArguments(describeCommand, ['--store', path, '--episodes']);
    expect(await describeCommand.run(values, [], io as never)).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(402);
    expect(lines[0]!.split('\t')).toEqual(['episode', 'task', 'policy', 'ending', 'return', 'turns']);
    expect(lines.at(-1)).toMatch(/^cut-short\t.*\ttruncated\t/);
  });

  test('an episode that was left out says why', async () => {
    await expect(run('--episode', 'cut-short')).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('truncated'),
    });
  });

  test('--lambda, --folds and --policy are checked', async () => {
    await expect(run('--lambda', '-1')).rejects.toMatchObject({ exitCode: 2 });
    await expect(run('--folds', '1')).rejects.toMatchObject({ exitCode: 2 });
    await expect(run('--policy', 'nobody')).rejects.toMatchObject({ exitCode: 2 });
  });

  test('--save and --save-as keep one row a turn, and replace what the label held', async () => {
    const count = async () => {
      const store = await openStore(path, { mode: 'read' });
      const rows = await queryRows(
        store,
        `SELECT critic, count(*) AS n, count(delta) AS finite, max(abs(advantage - (q - v))) AS off
         FROM turn_values GROUP BY critic ORDER BY critic`,
      );
      store.close();
      return rows;
    };
    const { turns } = Credit.parse(JSON.parse((await run('--save', '--json')).out));
    await run('--save-as', 'stiff', '--lambda', '1000');
    await expect(run('--save', '--critic', 'stiff')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--save-as'),
    });
    await expect(run('--save-as', '')).rejects.toMatchObject({ exitCode: 2 });
    await run('--save', '--ngrams', '0');
    const rows = await count();
    expect(rows.map((r) => [r.critic, r.n, r.finite])).toEqual([
      ['ridge', turns, turns],
      ['stiff', turns, turns],
    ]);
    for (const r of rows) expect(r.off).toBeLessThan(1e-12);
  });
});
