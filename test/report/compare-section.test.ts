import { parseHTML } from 'linkedom';
import { expect, test } from 'vitest';
import { compare } from '../../src/inspect/compare.ts';
import { compareSection } from '../../src/report/compare-section.ts';
import { page } from '../../src/report/page.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { storeOf } from '../helpers/store.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u001b[31m';

async function sectionOf(tasks: number, reward: (c: number, b: boolean) => number): Promise<string> {
  const episodes: EpisodeInput[] = Array.from({ length: tasks }, (_, c) =>
    [false, true].map((b) => ({
      episode_id: `${c}${b}`,
      policy: b ? HOSTILE : 'base',
      task_id: `${c}${HOSTILE}`,
      reward: reward(c, b),
      cost: c + (b ? c % 3 : 0),
      turns: [{}],
    })),
  ).flat();
  const store = await storeOf(episodes);
  try {
    return page('x', compareSection(await compare(store, 'base', HOSTILE)));
  } finally {
    store.close();
  }
}

test('one page with the answer, a forest plot and nothing that runs', async () => {
  const html = await sectionOf(30, (c, b) => (c % 3 === 0 || b ? 1 : 0));
  expect(parseHTML(html).document.querySelector('.lead')!.textContent).toMatch(/^B does better in success: /);
  expect(html).toContain('<svg');
  expect(html).toContain('All of k trials succeed');
  expect(html).not.toContain('<img');
  expect(html).not.toContain('\u001b');
  expect(html).not.toMatch(/NaN|undefined|Infinity/);
});

test('without any spread or interval the figure still stands', async () => {
  for (const tasks of [2, 30]) {
    const html = await sectionOf(tasks, () => 1);
    expect(html).toContain('without an interval');
    expect(html).not.toMatch(/NaN|undefined|Infinity/);
  }
});
