/* A target that claims every logged action for certain: its weights add up to more than there can be. */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { worstMeanWeight } from '../../src/audit/mean-weight-test.ts';
import { shareInWords } from '../../src/audit/target-share.ts';
import { auditText } from '../../src/cli/audit-text.ts';
import { Audit, type Stage } from '../../src/schema/audit.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

test('bounds that cross are none, with the reason; impossible shares are called that', () => {
  const honest = logRatiosFromPolicyFile(trajectoriesOf(simulated(200, 10, 4)), policyFile('behaviour'));
  const values = honest.trajectories.turns.behaviourLogPropensity.map((b) => -b);
  const a = audit({ ...honest, target: 'certain', values, table: null });
  expect(a.verdict).toBe('refused');
  expect(a.evaluation!.bounds).toBeNull();
  expect(a.evaluation!.warnings.map((w) => w.code)).toContain('bounds-contradict');
  const reason = a.reasons.find((r) => r.code === 'bounds-contradict')!;
  const [, lo, hi] = /at least (\S+) and at most (\S+)$/.exec(reason.message)!;
  expect(Number(lo)).toBeGreaterThan(Number(hi));
  expect(Audit.parse(JSON.parse(JSON.stringify(a)))).toEqual(a);
  const text = auditText(a);
  expect(text).not.toMatch(/bounds 95/);
  expect(a.stages[5]!.targetShare).toBeGreaterThan(2);
  expect(text).toMatch(/impossible > 100 %/);
});

test('weights that no double holds: sentences without figures that mean nothing', () => {
  const honest = logRatiosFromPolicyFile(trajectoriesOf(simulated(200, 10, 4)), policyFile('behaviour'));
  const values = honest.trajectories.turns.behaviourLogPropensity.map((b) => -200 * b);
  const a = audit({ ...honest, target: 'certain', values });
  expect(a.stages[2]!.targetShare).toBeGreaterThan(1e50);
  expect(a.reasons.length).toBeGreaterThan(1);
  for (const { code, message } of a.reasons)
    if (code !== 'outside-range') expect(message).not.toMatch(/e\+|\d{8,}/);
});

test('a share above 1 within its error is 100 %', () => {
  const stages = (share: number, error: number) =>
    [
      { targetShare: 1, meanWeightSe: error },
      { targetShare: share, meanWeightSe: 9 },
    ] as Stage[];
  expect(shareInWords(stages(0.42, 0.1), 1)).toBe('≈ 42 %');
  expect(shareInWords(stages(1.2, 0.1), 1)).toBe('≈ 100 %');
  expect(shareInWords(stages(1.4, 0.1), 1)).toBe('an impossible > 100 %');
  expect(shareInWords([{ ...stages(1, 0)[0]!, targetShare: null }], 0)).toBe('–');
});

test('a mean weight of 1e173 is called large, without its digits', () => {
  const stage = { turn: 0, meanWeight: 1.6e173, meanWeightSe: 1e172, largestShare: 0.5, essCarried: 9 };
  const off = worstMeanWeight([{ ...stage, z: 12 } as Stage], 100, 20, 3)!;
  expect(off.mean).toBe('over 1,000,000');
  expect(worstMeanWeight([{ ...stage, meanWeight: 1234.5, z: 12 } as Stage], 100, 20, 3)!.mean).toBe('1,235');
});
