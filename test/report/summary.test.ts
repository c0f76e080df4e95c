import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { buildReport } from '../../src/report/build-report.ts';
import { reportPage } from '../../src/report/report-page.ts';
import { turnWordsHtml } from '../../src/report/turn-words.ts';
import { warningLine } from '../../src/report/warning-line.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { storeOf } from '../helpers/store.ts';

type Dom = ReturnType<typeof parseHTML>['document'];

const pageOf = async (tasks: number): Promise<Dom> => {
  const store = await storeOf(
    Array.from({ length: 4 * tasks }, (_, i) => ({
      episode_id: `e${i}`,
      task_id: `t${i >> 2}`,
      reward: i % 3 === 0 ? 1 : 0,
      turns: [{ action: 'a' }, { action: 'b', reward: 0.25 }],
    })),
  );
  const page = reportPage(await buildReport(store, { title: 'A page' }));
  store.close();
  return parseHTML(page).document;
};
const textOf = (d: Dom, selector: string): string => d.querySelector(selector)!.textContent!;

describe('the answers at the top of the report', () => {
  test('one task: no interval, and the critic is refused as a note', async () => {
    const d = await pageOf(1);
    expect(textOf(d, '.summary')).toContain('4 episodes of 1 task,');
    expect(textOf(d, '.summary')).toContain('without an interval: fewer than 5 tasks');
    expect(textOf(d, '.summary')).toContain('No turn is valued: too few tasks');
    expect([...d.querySelectorAll('p.warning')].map((p) => p.textContent).join()).toContain(
      'No turn is valued',
    );
  });

  test('ten tasks: mean return with its interval; the table of an episode adds up', async () => {
    const d = await pageOf(10);
    expect(textOf(d, '.summary')).toMatch(/Mean return 0\.\d+, \[.*\] \(95\.0 % interval, for new tasks\)/);
    const table = [...d.querySelectorAll('table.wide')].at(-1)!;
    const cells = [...table.querySelectorAll('tr')].map((row) =>
      [...row.children].map((c) => c.textContent!),
    );
    expect(cells[0]!.slice(0, 6)).toEqual(['turn', 'V before', 'reward', 'V after', 'δ', 'A ± SE']);
    const number = (text: string) => Number(text.replace('−', '-').replace('end', '0'));
    expect(cells.length).toBe(3);
    for (const [, before, reward, after, delta] of cells.slice(1))
      expect(Math.abs(number(reward!) + number(after!) - number(before!) - number(delta!))).toBeLessThan(
        0.002,
      );
    expect(d.body.textContent).toContain('Reward so far + V');
  });
});

test('an action may be marked where no turn is, and the page says both', async () => {
  const store = await storeOf(
    Array.from({ length: 160 }, (_, i) => ({
      episode_id: `e${i}`,
      task_id: `t${i >> 3}`,
      reward: i % 16 === 0 ? 1 : i % 2,
      turns: [
        { action: 'a', tool_calls: [{ name: i % 2 ? 'good' : 'bad', arguments: {} }] },
        { action: 'b' },
      ],
    })),
  );
  const report = await buildReport(store, { title: 'A page' });
  store.close();
  const loud = { code: 'gain-not-clear', message: 'the gain is not clear' };
  const credit = { ...report.credit!, warnings: [...report.credit!.warnings, loud] };
  expect(credit.actions.map((a) => a.mark)).toContain('helpful');
  const d = parseHTML(reportPage({ ...report, credit })).document;
  expect(textOf(d, '.summary')).toMatch(/Actions: of \d+ compared within tasks, helpful: tool=good/);
  expect(textOf(d, '.summary')).toMatch(
    /Turns: none is called helpful or harmful, as .*the gain is not clear/,
  );
  expect(textOf(d, 'main')).not.toMatch(/[Nn]othing is (marked|called)/);
});

test('where no candidate is named, the question of deployment is answered', async () => {
  expect(textOf(await pageOf(10), '.summary')).toContain('no candidate policy was judged');
});

test('what is said of every candidate stands once, what is said of one under its name', async () => {
  const store = await storeOf(simulateToolAgent({ episodes: 400, tasks: 40, seed: 1 }));
  const audits = await Promise.all(
    ['soft', 'eager'].map((name) => auditTarget(store, `datasets/tool-agent/${name}.policy.json`)),
  );
  const report = await buildReport(store, { title: 'A page' });
  store.close();
  const warning = (message: string) => ({ code: 'x', message });
  const targets = audits.map((audit, i) => ({
    audit: { ...audit, warnings: [warning('said of both'), warning(`said of ${i}`)] },
    exact: null,
  }));
  const text = textOf(parseHTML(reportPage({ ...report, targets })).document, 'main');
  const places = ['said of both', 'Policy soft', 'said of 0', 'Policy eager', 'said of 1'].map((x) =>
    text.indexOf(x),
  );
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
  expect(text.split('said of both').length).toBe(2);
  const alone = textOf(parseHTML(reportPage({ ...report, targets: targets.slice(0, 1) })).document, 'main');
  expect(alone.split('said of both').length).toBe(2);
});

test('what a turn saw is not repeated where it is the answer above', () => {
  const call = { call: 'find()', answer: 'a book', failed: null };
  const before = { observation: 'hello', action: null, calls: [call] };
  const after = { observation: 'a book', action: 'well', calls: [] };
  expect(turnWordsHtml(after, before).html).toContain('the answer above');
  expect(turnWordsHtml(after, before).html).not.toContain('a book');
  for (const other of [
    undefined,
    { ...before, calls: [] },
    { ...before, calls: [{ ...call, answer: 'two' }] },
  ])
    expect(turnWordsHtml(after, other).html).toContain('a book');
  const silent = { observation: null, action: null, calls: [] };
  expect(turnWordsHtml(silent, { ...before, calls: [{ ...call, answer: null }] }).html).toBe('');
});

test('a warning ends with its count only where it does not say it', () => {
  expect(warningLine({ message: 'Aborted episodes are out.', count: 1200 })).toBe(
    'Aborted episodes are out: 1,200.',
  );
  expect(warningLine({ message: 'only 7 tasks', count: 7 })).toBe('only 7 tasks');
  expect(warningLine({ message: '1 truncated, 2 aborted', count: 3 })).toBe('1 truncated, 2 aborted');
  expect(warningLine({ message: 'not counted as 0.', count: 3 })).toBe('not counted as 0: 3.');
});
