import { fc, test } from '@fast-check/vitest';
import { parseHTML } from 'linkedom';
import { beforeAll, describe, expect } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { buildReport } from '../../src/report/build-report.ts';
import { reportPage } from '../../src/report/report-page.ts';
import type { Report } from '../../src/schema/report.ts';
import { numbersOf, pageFaults } from '../helpers/page-numbers.ts';
import { simulatedReport } from '../helpers/simulated-report.ts';
import { storeOf } from '../helpers/store.ts';

const paths = (html: string): Set<string> =>
  new Set([...parseHTML(html).document.querySelectorAll('data')].map((d) => d.getAttribute('data-of')!));

/** A page with other digits in place of some of its numbers, from `numbersOf`. */
function replaced(
  html: string,
  numbers: readonly { from: number; text: string }[],
  other: (text: string) => string,
) {
  let out = '';
  let end = 0;
  for (const { from, text } of numbers) {
    out += html.slice(end, from) + other(text);
    end = from + text.length;
  }
  return out + html.slice(end);
}

describe('every figure of the page is the rounding of the value in the data that it names', () => {
  let simulated: Report;
  let compared: Report;
  beforeAll(async () => {
    simulated = await simulatedReport();
    const two = await storeOf(
      Array.from({ length: 120 }, (_, i) => ({
        episode_id: `e${i}`,
        task_id: `t${i % 20}`,
        policy: Math.floor(i / 20) % 2 === 0 ? 'old' : 'new',
        ending: i % 17 === 0 ? 'aborted' : 'terminated',
        ...(i % 17 === 0 ? {} : { reward: (i * 7) % 3 === 0 ? 1 : 0 }),
        turns: [
          { action: 'x', tool_calls: [{ name: 'find', arguments: {}, error: i % 4 === 0 }] },
          { action: 'y' },
        ],
      })),
    );
    compared = await buildReport(two, { title: 'Two policies' });
    two.close();
  });

  test('candidates, logs, critic and example turns', () => {
    const page = reportPage(simulated);
    expect(pageFaults(page, simulated)).toEqual([]);
    const shown = paths(page);
    for (const path of [
      ...[0, 2].flatMap((i) =>
        ['value', 'interval/lo', 'interval/hi'].map(
          (end) => `targets/${i}/audit/evaluation/difference/${end}`,
        ),
      ),
      'targets/1/audit/evaluation/bounds/lo',
      'targets/0/exact',
      'description/episodes',
      'description/reward/mean',
      'description/reward/interval/lo',
      'description/tools/0/errorRate',
      'credit/heldOut/r2',
      'credit/actions/0/contrast/mean',
      'credit/actions/0/contrast/se',
      'examples/0/credit/turns/0/advantage',
      'examples/1/credit/turns/0/advantageSe',
      'targets/0/audit/stages/1/essCarried',
      'targets/1/audit/weights/ess',
    ])
      expect(shown).toContain(path);
    // A refused candidate has no estimate on the page.
    expect([...shown].filter((path) => path.startsWith('targets/1/audit/evaluation/estimates'))).toEqual([]);
  });

  test('policies against each other', () => {
    const page = reportPage(compared);
    expect(pageFaults(page, compared)).toEqual([]);
    expect(compared.comparisons[0]?.comparison).not.toBeNull();
    for (const path of [
      'a/pairedMean',
      'difference/value',
      'difference/interval/lo',
      'tests/wins',
      'winRate/value',
    ])
      expect(paths(page)).toContain(`comparisons/0/comparison/outcomes/0/${path}`);
    expect(paths(page)).toContain('description/policies/1/meanReward');
  });

  test('names of a log that hold digits, refused candidates and few tasks', async () => {
    const store = await storeOf(
      Array.from({ length: 16 }, (_, i) => ({
        episode_id: `run 2026-${i}`,
        task_id: `t${i >> 2}/7`,
        policy: i % 2 ? 'gpt-4.1' : 'gpt-5',
        reward: i % 3 === 0 ? 1 : 0,
        turns: [
          { action: '3 apples', action_class: `v${i % 2}.0` },
          { action: 'wait 10 s', action_class: 'w8' },
        ],
      })),
    );
    const report = await buildReport(store, {
      title: 'Logs of 2026',
      targets: [{ audit: await auditTarget(store, 'datasets/tool-agent/soft.policy.json'), exact: null }],
    });
    store.close();
    expect(report.targets[0]!.audit.verdict).toBe('refused');
    expect(pageFaults(reportPage(report), report)).toEqual([]);
  });

  test('a figure is read out as its caption, whatever its width', () => {
    const figures = [...parseHTML(reportPage(compared)).document.querySelectorAll('figure')];
    expect(figures.length).toBeGreaterThan(3);
    for (const figure of figures) {
      const names = [...figure.querySelectorAll('svg')].map((drawn) => drawn.getAttribute('aria-label'));
      const caption = figure.querySelector('figcaption')!.textContent;
      expect(names).toEqual([caption, caption]);
    }
  });

  const name = fc.constantFrom('a', 'gpt-4.1', '3', 'v 2.0, 7', '<1>');
  const call = fc.record({
    name,
    arguments: fc.constant({ n: 12 }),
    result: fc.option(fc.constantFrom('4 of 5', 'no')),
    error: fc.option(fc.boolean()),
  });
  const episode = fc.record({
    task_id: fc.option(name),
    policy: fc.option(name),
    ending: fc.constantFrom(
      'terminated' as const,
      'limit' as const,
      'aborted' as const,
      'truncated' as const,
    ),
    reward: fc.option(fc.constantFrom(0, 1, -2.5, 1e-9, 123456.789)),
    cost: fc.option(fc.constantFrom(0.001, 12)),
    turns: fc.array(
      fc.record({
        observation: fc.option(fc.constantFrom('step 1', '100 %')),
        action: fc.constantFrom('do 3', 'b'),
        tool_calls: fc.array(call, { maxLength: 2 }),
        reward: fc.option(fc.constantFrom(0.25, -1)),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  });
  test.prop([fc.array(episode, { minLength: 1, maxLength: 60 })], { seed: 2, numRuns: 12 })(
    'whatever the logs hold',
    async (episodes) => {
      const store = await storeOf(episodes.map((e, i) => ({ ...e, episode_id: `e ${i}.5` })));
      try {
        const report = await buildReport(store, { title: 'Logs', critic: { placebos: 2 } });
        expect(pageFaults(reportPage(report), report)).toEqual([]);
      } finally {
        store.close();
      }
    },
  );

  test('a page whose numbers are all 0 is found wrong in every one of them', () => {
    for (const report of [simulated, compared]) {
      const page = reportPage(report);
      const numbers = numbersOf(page).filter(({ text }) => /[1-9]/.test(text));
      expect(numbers.length).toBeGreaterThan(150);
      const zeros = replaced(page, numbers, (text) => text.replaceAll(/\d/g, '0'));
      const figures = [...parseHTML(page).document.querySelectorAll('data')];
      const nonZero = figures.filter((d) => /[1-9]/.test(d.textContent!)).length;
      expect(pageFaults(zeros, report).length).toBeGreaterThan(nonZero);
    }
  });

  test.prop([fc.boolean(), fc.nat(), fc.nat(), fc.integer({ min: 1, max: 9 })], { seed: 1, numRuns: 80 })(
    'a page with any single number changed is found wrong',
    (first, which, place, by) => {
      const report = first ? simulated : compared;
      const page = reportPage(report);
      const numbers = numbersOf(page);
      const one = numbers[which % numbers.length]!;
      const digits = [...one.text.matchAll(/\d/g)].map((m) => m.index);
      const at = digits[place % digits.length]!;
      const other = (text: string) => text.slice(0, at) + ((Number(text[at]) + by) % 10) + text.slice(at + 1);
      expect(pageFaults(replaced(page, [one], other), report), `${one.text} at ${one.from}`).not.toEqual([]);
    },
  );
});
