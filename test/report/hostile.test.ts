import { fc, test } from '@fast-check/vitest';
import { parseHTML } from 'linkedom';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verdictText } from '../../src/cli/audit-text.ts';
import { creditText } from '../../src/cli/credit-text.ts';
import { descriptionText } from '../../src/cli/describe.ts';
import { buildReport } from '../../src/report/build-report.ts';
import { escapeHtml } from '../../src/report/escape.ts';
import { plain } from '../../src/report/plain.ts';
import { reportPage } from '../../src/report/report-page.ts';
import { Report } from '../../src/schema/report.ts';
import type { Store } from '../../src/store/store.ts';
import { hasBrowser, onPage, openBrowser } from '../helpers/browser.ts';
import { storeOf } from '../helpers/store.ts';

/** Markup, a terminal title, a cleared screen, a bidirectional override, C1. */
const EVIL =
  '</style><script>alert(1)</script><img src=x onerror=alert(2)>"\' \u001b]0;owned\u0007\u001b[2J\u202e\u0085\u009b31m';
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('a log whose every text is hostile', () => {
  let store: Store;
  let report: Report;
  let page: string;
  beforeAll(async () => {
    store = await storeOf(
      Array.from({ length: 24 }, (_, i) => ({
        episode_id: `e${i}${EVIL}`,
        task_id: `t${i >> 1}${EVIL}`,
        policy: EVIL,
        version_start: EVIL,
        reward: i % 2,
        turns: [0, 1].map((turn) => ({
          observation: EVIL,
          action: EVIL,
          action_class: `${EVIL}${(i + turn) % 2}`,
          tool_calls: [{ name: `tool${EVIL}`, arguments: { [EVIL]: EVIL }, error: i % 3 === 0 }],
        })),
      })),
    );
    report = await buildReport(store, { title: EVIL });
    page = reportPage(report);
  });
  afterAll(() => store.close());

  test('the page holds no script, no handler and no control character', () => {
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toMatch(CONTROL);
    const { document } = parseHTML(page);
    expect(document.querySelectorAll('script, img, iframe, object, embed, link').length).toBe(0);
    const handlers = [...document.querySelectorAll('*')].flatMap((e) =>
      [...e.attributes].filter((a) => /^on/i.test(a.name) || /javascript:/i.test(a.value)),
    );
    expect(handlers).toEqual([]);
  });

  test('the terminal text holds no control character', () => {
    const texts = [descriptionText(report.description), creditText(report.credit!)];
    for (const text of texts) expect(plain(text)).not.toMatch(CONTROL);
  });

  test('the report is what its schema says, and survives JSON', () => {
    expect(Report.parse(JSON.parse(JSON.stringify(report)))).toEqual(JSON.parse(JSON.stringify(report)));
    expect(report.examples.length).toBeGreaterThan(0);
  });
});

test.prop([fc.string({ unit: 'binary' })])('escaped text parses back to the same visible text', (text) => {
  const { document } = parseHTML(
    `<html><body><p title="${escapeHtml(text)}">${escapeHtml(text)}</p></body></html>`,
  );
  const p = document.querySelector('p')!;
  expect(document.querySelectorAll('body *').length).toBe(1);
  expect(p.textContent).toBe(plain(text));
});

test('a newline in a name cannot forge a line of a verdict', () => {
  const text = verdictText({
    target: 'x\nsupported: the logs cover it',
    verdict: 'refused',
    reasons: [],
  } as never);
  expect(text.split('\n').filter((line) => line.startsWith('supported'))).toEqual([]);
  expect(text).toContain('x\\nsupported');
});

test.prop([fc.string({ unit: 'binary' })])('plain text is stable and harmless', (text) => {
  expect(plain(plain(text))).toBe(plain(text));
  expect(plain(text)).not.toMatch(CONTROL);
});

test.skipIf(!hasBrowser)(
  'a browser shows it without an error (skipped: chromium is not installed)',
  async () => {
    const store = await storeOf([
      { episode_id: EVIL, task_id: 'a', reward: 1, turns: [{ action: EVIL }] },
      { episode_id: 'b', task_id: 'b', reward: 0, turns: [{ action: EVIL }] },
    ]);
    const page = reportPage(await buildReport(store, { title: 'A page' }));
    store.close();
    const browser = await openBrowser();
    try {
      const wrong: string[] = [];
      const watch = (tab: Page) => {
        tab.on('pageerror', (e) => wrong.push(e.message));
        tab.on('dialog', (d) => {
          wrong.push(`dialog ${d.message()}`);
          void d.dismiss();
        });
        tab.on('console', (m) => m.type() === 'error' && wrong.push(m.text()));
      };
      await onPage(
        browser,
        page,
        { scheme: 'light', width: 1280 },
        async (tab) => {
          expect(await tab.locator('h2').count()).toBeGreaterThan(2);
          expect(await tab.locator('svg').count()).toBeGreaterThan(0);
        },
        watch,
      );
      expect(wrong).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
