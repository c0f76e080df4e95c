import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { readPolicyFile } from '../../src/policy/read-policy-file.ts';
import { buildReport } from '../../src/report/build-report.ts';
import { reportPage } from '../../src/report/report-page.ts';
import type { Report } from '../../src/schema/report.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { storeOf } from '../helpers/store.ts';

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const data = fileURLToPath(new URL('../../datasets/tool-agent/', import.meta.url));
const airline = [
  fileURLToPath(new URL('../../../shared/logs/tau-bench/gpt-4o-airline.json', import.meta.url)),
].find(existsSync);

/** The page of the bundled simulated logs with a supported, a refused and a worse candidate. */
async function simulatedReport(store: Store): Promise<Report> {
  await ingest(store, [join(data, 'episodes.jsonl')]);
  const t = await loadTrajectories(store, { features: true });
  const targets = ['soft', 'patient', 'eager'].map((name) => ({
    audit: audit(logRatiosFromPolicyFile(t, readPolicyFile(join(data, `${name}.policy.json`))), {
      range: [-0.3, 1] as [number, number],
    }),
    exact: 0.5,
  }));
  return buildReport(store, { title: 'Simulated', targets });
}

describe.skipIf(!chromium)('the page in a browser (skipped: chromium is not installed)', () => {
  let folder: string;
  let axe: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnwise-axe-'));
    axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const { chromium: launcher } = await import('playwright-core');
    browser = await launcher.launch({
      executablePath: chromium!,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
      ],
    });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  /** Serious and critical faults that axe-core finds, each with where; and by how much the page is wider than the window. */
  async function look(page: string, colorScheme: 'light' | 'dark', width: number) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: 800 },
      bypassCSP: true,
    });
    try {
      const tab = await context.newPage();
      const path = join(folder, 'page.html');
      writeFileSync(path, page);
      await tab.goto(`file://${path}`);
      await tab.evaluate('for (const d of document.querySelectorAll("details")) d.open = true');
      await tab.evaluate(axe);
      const faults = await tab.evaluate(
        `axe.run().then(r => r.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
          .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.target + ' ' + n.failureSummary).join(' | ')))`,
      );
      const beyond = await tab.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      return { faults, beyond };
    } finally {
      await context.close();
    }
  }

  async function expectAccessible(report: Report) {
    const page = reportPage(report);
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const)
      expect({ scheme, ...(await look(page, scheme, width)) }).toEqual({ scheme, faults: [], beyond: 0 });
  }

  test('supported, refused and worse candidates on simulated logs', async () => {
    const store = await openStore(':memory:', { mode: 'create' });
    const report = await simulatedReport(store);
    store.close();
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
