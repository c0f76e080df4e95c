/* A target that claims every logged action for certain: its weights add up to more than there can be. */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
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
  expect(text).toMatch(/impossible \d{3,} %/);
});

test('a share above 1 within its error is 100 %', () => {
  const stages = (share: number, error: number) =>
    [
      { targetShare: 1, meanWeightSe: error },
      { targetShare: share, meanWeightSe: 9 },
    ] as Stage[];
  expect(shareInWords(stages(0.42, 0.1), 1)).toBe('≈ 42 %');
  expect(shareInWords(stages(1.2, 0.1), 1)).toBe('≈ 100 %');
  expect(shareInWords(stages(1.4, 0.1), 1)).toBe('an impossible 140 %');
  expect(shareInWords([{ ...stages(1, 0)[0]!, targetShare: null }], 0)).toBe('–');
});
