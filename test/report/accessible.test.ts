import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { buildReport } from '../../src/report/build-report.ts';
import { reportPage } from '../../src/report/report-page.ts';
import type { Report } from '../../src/schema/report.ts';
import { openStore } from '../../src/store/store.ts';
import { axeFaults, hasBrowser, onPage, openBrowser } from '../helpers/browser.ts';
import { simulatedReport } from '../helpers/simulated-report.ts';
import { storeOf } from '../helpers/store.ts';

const airline = [
  fileURLToPath(new URL('../../../shared/logs/tau-bench/gpt-4o-airline.json', import.meta.url)),
].find(existsSync);

describe.skipIf(!hasBrowser)('the page in a browser (skipped: chromium is not installed)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  /** Serious and critical faults that axe-core finds, each with where; by how much the page is wider than the window; and how many figures are cut or shrunk, letters with them. */
  const look = (page: string, scheme: 'light' | 'dark', width: number) =>
    onPage(browser, page, { scheme, width }, async (tab) => ({
      faults: (await axeFaults(tab))
        .filter((f) => f.impact === 'serious' || f.impact === 'critical')
        .map((f) => f.fault),
      beyond: await tab.evaluate('document.documentElement.scrollWidth - window.innerWidth'),
      small: await tab.evaluate(
        `[...document.querySelectorAll('figure svg')].filter((f) => f.checkVisibility() &&
          (f.clientWidth < 0.9 * f.getAttribute('width') || f.parentElement.scrollWidth > f.parentElement.clientWidth)).length`,
      ),
    }));

  async function expectAccessible(report: Report) {
    const page = reportPage(report);
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const)
      expect({ scheme, ...(await look(page, scheme, width)) }).toEqual({
        scheme,
        faults: [],
        beyond: 0,
        small: 0,
      });
  }

  test('supported, refused and worse candidates on simulated logs', async () => {
    const report = await simulatedReport();
    expect(report.targets.map((t) => t.audit.verdict)).toEqual(['supported', 'refused', 'supported']);
    await expectAccessible(report);
  });

  test('a store of two short episodes', async () => {
    const store = await storeOf([
      { episode_id: 'a', task_id: 'a', reward: 1, turns: [{ action: 'x' }] },
      { episode_id: 'b'.repeat(200), task_id: 'b', turns: [{ action: 'y' }] },
    ]);
    const report = await buildReport(store, { title: 'T'.repeat(200) });
    store.close();
    await expectAccessible(report);
  });

  test.skipIf(!airline)('the public airline log (skipped: ../shared/logs is not here)', async () => {
    const store = await openStore(':memory:', { mode: 'create' });
    await ingest(store, [airline!]);
    const report = await buildReport(store, { title: 'Airline' });
    store.close();
    await expectAccessible(report);
  });

  test('the check finds a fault where there is one', async () => {
    const faulty =
      '<!doctype html><html lang="en"><title>t</title><main><p style="color:#eee">pale</p><img src="x"></main>';
    const { faults } = await look(faulty, 'light', 360);
    expect(String(faults)).toContain('color-contrast');
    expect(String(faults)).toContain('image-alt');
  });
});
