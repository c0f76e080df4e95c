import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export const hasBrowser = CHROMIUM !== undefined;

/** A headless browser that loads nothing but what it is given; to be closed by the caller. */
export async function openBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: CHROMIUM!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
    ],
  });
}

export interface Look {
  readonly scheme: 'light' | 'dark';
  /** Of the window, in pixels. */
  readonly width: number;
}

/** Runs `look` on a page of HTML in a window of its own; `watch` is there before the page is. */
export async function onPage<T>(
  browser: Browser,
  html: string,
  { scheme, width }: Look,
  look: (tab: Page) => Promise<T>,
  watch?: (tab: Page) => void,
): Promise<T> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: 800 },
  });
  try {
    const tab = await context.newPage();
    watch?.(tab);
    await tab.setContent(html);
    return await look(tab);
  } finally {
    await context.close();
  }
}

/** Every fault that axe-core finds on a page with all its folded parts open: its impact, its rule, and where. */
export async function axeFaults(tab: Page): Promise<{ impact: string; fault: string }[]> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await tab.evaluate('for (const d of document.querySelectorAll("details")) d.open = true');
  await tab.evaluate(axe);
  return tab.evaluate(
    `axe.run().then(r => r.violations.map(v => ({ impact: v.impact,
      fault: v.id + ': ' + v.nodes.slice(0, 3).map(n => n.target + ' ' + n.failureSummary).join(' | ') })))`,
  );
}
