import { parseHTML } from 'linkedom';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildReport } from '../../src/report/build-report.ts';
import { reportPage } from '../../src/report/report-page.ts';
import type { Report } from '../../src/schema/report.ts';
import { simulatedReport } from '../helpers/simulated-report.ts';
import { storeOf } from '../helpers/store.ts';

/** The value that lies at "a/0/b". */
const at = (report: Report, path: string): unknown =>
  path
    .split('/')
    .reduce<unknown>(
      (x, key) => (x as Record<string, unknown> | undefined)?.[key],
      JSON.parse(JSON.stringify(report)),
    );

/** Whether a text is a rounding of a value; read from the text alone, not made by the formatter of the page. */
function rounds(text: string, value: number): boolean {
  if (text === '< 0.0001') return value < 0.0001;
  const bare = text
    .replace(/^at least /, '')
    .replaceAll(',', '')
    .replaceAll('−', '-')
    .replace(/^\+/, '');
  const [, mantissa, exponent = '0', share] = /^(-?\d+(?:\.\d+)?)(?:e([+-]?\d+))?( %)?$/.exec(bare) ?? [];
  if (mantissa === undefined) return false;
  const unit = 10 ** (Number(exponent) - (mantissa.split('.')[1]?.length ?? 0));
  const scaled = value * (share ? 100 : 1);
  return (
    Math.abs(Number(`${mantissa}e${exponent}`) - scaled) <= unit * 0.5 * (1 + 1e-6) + Math.abs(scaled) * 1e-12
  );
}

/** What in a page is not what its data says: wrong numbers, and numbers in columns of numbers that name no value. */
function faults(html: string, report: Report): string[] {
  const { document } = parseHTML(html);
  const wrong: string[] = [];
  for (const shown of document.querySelectorAll('data')) {
    const path = shown.getAttribute('data-of')!;
    const value = at(report, path);
    const text = shown.textContent!;
    if (typeof value !== 'number' || Number(shown.getAttribute('value')) !== value || !rounds(text, value))
      wrong.push(`${path}: ${text}, is ${value}`);
  }
  for (const cell of document.querySelectorAll('td.n')) {
    for (const shown of [...cell.querySelectorAll('data')]) shown.remove();
    if (/\d/.test(cell.textContent!)) wrong.push(`no data: ${cell.textContent}`);
  }
  return wrong;
}

const paths = (html: string): Set<string> =>
  new Set([...parseHTML(html).document.querySelectorAll('data')].map((d) => d.getAttribute('data-of')!));

/** Every number in the shown text becomes 0; tags stay. */
const zeroed = (html: string): string =>
  html.replaceAll(/>[^<]*</g, (text) => text.replaceAll(/\d+(?:[.,]\d+)*/g, '0'));

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
    expect(faults(page, simulated)).toEqual([]);
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
    expect(faults(page, compared)).toEqual([]);
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

  test('a page whose numbers are all 0 is found wrong, and so is one with a single wrong number', () => {
    const page = reportPage(simulated);
    expect(faults(zeroed(page), simulated).length).toBeGreaterThan(paths(page).size / 2);
    const once = page.replace('>0.548</data>', '>0.549</data>');
    expect(once).not.toBe(page);
    expect(faults(once, simulated)).toHaveLength(1);
  });
});
