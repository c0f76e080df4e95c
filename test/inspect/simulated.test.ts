import { expect, test } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { auditText, unsaid } from '../../src/cli/audit-text.ts';
import { creditText } from '../../src/cli/credit-text.ts';
import { descriptionText } from '../../src/cli/describe.ts';
import { runCritic } from '../../src/critic/credit.ts';
import { simulatedWarnings } from '../../src/inspect/simulated.ts';
import { buildReport } from '../../src/report/build-report.ts';
import { reportPage } from '../../src/report/report-page.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { storeOf } from '../helpers/store.ts';

const messages = async (metas: readonly EpisodeInput['meta'][]): Promise<string[]> => {
  const store = await storeOf(metas.map((meta, i) => ({ episode_id: `e${i}`, meta, turns: [{}] })));
  try {
    return (await simulatedWarnings(store)).map((w) => w.message);
  } finally {
    store.close();
  }
};

test.each<[string, EpisodeInput['meta'][], string[]]>([
  ['no record says so', [null, {}, { seed: 1 }], []],
  [
    'the word stands elsewhere',
    [{ note: 'simulated' }, { env: { simulated: 'x' } }, { 'simulated user': 'y' }],
    [],
  ],
  [
    'all say that they are real',
    [{ simulated: false }, { simulated: 'No' }, { simulated: 0 }, { simulated: null }],
    [],
  ],
  ['records are of another kind', [{ simulated: { user: 'gpt' } }, { simulated: ['x'] }], []],
  ['one is', [{ simulated: 'maze' }], ['simulated data: all 1 episode comes from the world maze']],
  [
    'the world has no name',
    [{ simulated: true }, { simulated: 1 }],
    ['simulated data: all 2 episodes come from a simulator'],
  ],
  [
    'some are',
    [{ simulated: 'maze' }, null, { simulated: 'maze' }],
    ['simulated data: 2 of 3 episodes come from the world maze'],
  ],
  [
    'of several worlds',
    ['d', 'b', 'a', 'c', 'a'].map((simulated) => ({ simulated })),
    ['simulated data: all 5 episodes come from the worlds a, b, c and 1 more'],
  ],
])('%s', async (_, metas, want) => {
  expect(await messages(metas)).toEqual(want);
});

const SAYS = 'simulated data: all 400 episodes come from the world tool-agent';

test('description, audit, critic and page of simulated logs say so; the same logs without it do not', async () => {
  const policy = 'datasets/tool-agent/soft.policy.json';
  for (const simulated of [true, false]) {
    const episodes = [...simulateToolAgent({ episodes: 400, tasks: 40, seed: 1 })];
    const store = await storeOf(simulated ? episodes : episodes.map((e) => ({ ...e, meta: null })));
    const audited = await auditTarget(store, policy);
    const report = await buildReport(store, { title: 'A page', targets: [{ audit: audited, exact: null }] });
    const { fit } = await runCritic(store);
    store.close();
    const page = reportPage(report);
    for (const text of [
      descriptionText(report.description),
      auditText(audited),
      creditText(fit.report),
      page.replace('Simulated data', 'simulated data'),
    ])
      expect(text.includes(SAYS)).toBe(simulated);
    // Once on the page, at its top, and not among the warnings.
    expect(page.toLowerCase().split('simulated data').length - 1).toBe(simulated ? 1 : 0);
    expect(unsaid(audited).map((w) => w.code)).not.toContain('simulated');
  }
});
