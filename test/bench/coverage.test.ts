import { expect, test } from 'vitest';
import { bench, type CoverageStudy } from '../../bench/coverage.ts';
import { toolAgentLogs, toolAgentRatios } from '../../bench/tool-agent-logs.ts';
import { toolAgentExact } from '../../src/simulate/tool-agent-exact.ts';
import { TOOL_AGENT_POLICIES } from '../../src/simulate/tool-agent-law.ts';
import { pdis } from '../../src/value/pdis.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';

const run = async (...flags: string[]) => (await bench(flags)).data as CoverageStudy;

test('near targets are supported and covered, far ones refused; one seed, one table', async () => {
  const flags = [
    '--replicates',
    '6',
    '--tasks',
    '50',
    '--targets',
    'patient 0,patient 1',
    '--bootstrap',
    '100',
  ];
  const a = await run(...flags);
  const [near, far] = a.settings;
  expect(near!.share).toEqual({ supported: 1, weak: 0, refused: 0 });
  expect(near!.essFraction).toBeCloseTo(1, 12);
  expect(near!.chiSquare).toBeCloseTo(0, 12);
  expect(near!.kl).toBeCloseTo(0, 12);
  expect(far!.share.refused).toBe(1);
  expect(far!.kl).toBeGreaterThan(3);
  for (const c of near!.intervals.filter((x) => x.verdict === 'supported')) {
    expect(c.intervals).toBe(6);
    expect(c.covered).toBeGreaterThanOrEqual(4); // three misses of six by chance: 0.2 %
    expect(c.meanWidth).toBeGreaterThan(0.05);
    expect(c.meanWidth).toBeLessThan(0.2);
  }
  expect((await run(...flags)).settings).toEqual(a.settings);
  await expect(bench(['--targets', 'nobody'])).rejects.toThrow(/unknown target "nobody"/);
});

test('a fixed-seed part of the study: near targets are covered within binomial error, far ones refused', async () => {
  const targets = 'patient 0.1,eager,patient 1';
  const study = await run(
    '--replicates',
    '120',
    '--tasks',
    '60',
    '--targets',
    targets,
    '--bootstrap',
    '199',
    '--seed',
    '4',
  );
  const [near, eager, far] = study.settings;
  expect(far!.share).toEqual({ supported: 0, weak: 0, refused: 1 });
  for (const setting of [near!, eager!]) {
    expect(setting.share.supported, setting.target).toBeGreaterThan(0.8);
    for (const c of setting.intervals.filter((x) => x.verdict === 'supported')) {
      // 16 cells: one below .0005 of its binomial would be a chance of .8 % in all, were they independent.
      expect(
        c.chance,
        `${setting.target} ${c.estimator} ${c.interval}: ${c.covered} of ${c.intervals}`,
      ).toBeGreaterThan(0.0005);
      expect(c.coverage).toBeLessThan(1); // wide enough to cover all is no interval
    }
  }
});

test('the logs follow the law: PDIS within four exact standard errors of the value', () => {
  const logs = toolAgentLogs(8000, 1, 3); // each task one rollout: independent
  for (const name of ['behaviour', 'soft', 'eager'] as const) {
    const w = episodeWeights(toolAgentRatios(logs, name, TOOL_AGENT_POLICIES[name]));
    const exact = toolAgentExact(TOOL_AGENT_POLICIES[name]);
    const z = (pdis.estimate(w, stageSums(w)).value - exact.value) / Math.sqrt(exact.variancePdis / w.n);
    expect(Math.abs(z), name).toBeLessThan(4);
  }
});
