import { describe, expect, test } from 'vitest';
import { meanByAction } from '../../src/critic/advantages.ts';
import { fitCritic } from '../../src/critic/critic.ts';
import { criticWarnings } from '../../src/critic/critic-warnings.ts';
import {
  actionMark,
  clearLimit,
  contrastMark,
  offCentre,
  turnMarkNote,
  turnMarks,
  unmarkedReason,
} from '../../src/critic/marks.ts';
import type { CriticReport } from '../../src/schema/credit.ts';
import { agentTurns, worldOf } from './world.ts';

const w = worldOf(agentTurns(3000, 2, 300));
const fit = fitCritic(w.t, w.states, w.actions, { placebos: 19 });
const good = fit.report;
const bad: CriticReport = { ...good, warnings: [{ code: 'no-better-than-length', message: 'x' }] };

const turns = (...of: [advantage: number, se: number | null][]) =>
  of.map(([advantage, advantageSe]) => ({ advantage, advantageSe, supported: true }));

describe('marks', () => {
  test('limits are two-sided, raised for what was compared, of t with few tasks', () => {
    // Quantiles of the normal at .975 and .9975, of t with 4 degrees of freedom at .9975.
    expect(clearLimit(1)).toBeCloseTo(1.959963984540054, 9);
    expect(clearLimit(10)).toBeCloseTo(2.807033768343811, 9);
    expect(clearLimit(10, 5)).toBeCloseTo(5.597568, 5);
    expect(clearLimit(1, 1)).toBe(Number.POSITIVE_INFINITY);
  });

  test('actions are marked by their contrast beyond the limit of all looked at', () => {
    expect(good.warnings).toEqual([]);
    const at = (mean: number, se: number | null) => contrastMark({ mean, se, tasks: 300, df: 299 }, 3);
    // Three actions: t with 299 degrees of freedom at 1 − .025/3 is 2.4073.
    expect(good.actions).toHaveLength(3);
    for (const a of good.actions) expect(actionMark(good, a)).toBe(contrastMark(a.contrast, 3));
    expect(contrastMark({ mean: null, se: null, tasks: 0, df: null, reason: 'x' }, 3)).toBeNull();
    expect([at(2.45, 1), at(-2.45, 1), at(2.35, 1), at(2.45, null)]).toEqual([
      'helpful',
      'harmful',
      null,
      null,
    ]);
  });

  test('no turn is marked where the critic did not pass its own checks, and it says why', () => {
    expect(unmarkedReason(good)).toBeNull();
    expect(turnMarks(bad, turns([9, 0.1], [-9, 0.1]))).toEqual([null, null]);
    expect(turnMarkNote(bad)).toContain('did not pass');
  });

  test('a critic without an R² above 0, or without a clear paired gain over the length, does not pass', () => {
    const codes = (heldOut: Partial<CriticReport['heldOut']>) =>
      criticWarnings({ ...good, heldOut: { ...good.heldOut, ...heldOut } }, ['p'], 0).map((w) => w.code);
    expect(codes({})).toEqual([]);
    expect(codes({ r2: -0.018 })).toEqual(['no-better-than-constant']);
    expect(codes({ gainByTurn: 0.0019, gainByTurnSe: 0.001 })).toEqual(['no-better-than-length']);
    expect(codes({ gainByTurn: 0.0021, gainByTurnSe: 0.001 })).toEqual([]);
    expect(codes({ gainByTurnSe: null })).toEqual(['no-better-than-length']);
  });

  test('a turn is marked by A, not δ: supported, and beyond the limit of all turns of the log', () => {
    // 1,000 supported turns: z at 1 − .025/1000 is 4.0556.
    const log = { ...good, turns: 1250, supportedShare: 0.8 };
    expect(turnMarks(log, turns([0.41, 0.1], [0.4, 0.1], [-0.41, 0.1], [-0.9, 0.1], [-0.9, null]))).toEqual([
      'helpful',
      null,
      'harmful',
      'harmful',
      null,
    ]);
    expect(turnMarks(log, [{ advantage: 9, advantageSe: 0.1, supported: false }])).toEqual([null]);
    expect(turnMarks(log, [])).toEqual([]);
    expect(turnMarkNote(log)).toContain('beyond 4.06 of their own standard errors, so that of all 1,000');
  });

  test('a mean of A is off centre beyond 3 standard errors, raised for the turns tested', () => {
    const stage = (mean: number, tasks: number) => ({
      ...{ turn: 0, pooled: false, n: 100, tasks, advantage: { mean, se: 1 } },
    });
    const stages = (n: number) => Array.from({ length: n }, () => stage(0, 100_000));
    expect(offCentre(stages(5), stage(2.9, 100_000))).toBe(false);
    expect(offCentre(stages(5), stage(-3.1, 100_000))).toBe(true);
    expect(offCentre(stages(100), stage(3.1, 100_000))).toBe(false); // normal at 1 − .025/100: 3.48
    expect(offCentre(stages(5), stage(3.1, 4))).toBe(false);
  });

  test('class and tool of the very same turns are one row', () => {
    const two = {
      ...w.actions,
      columns: 2 * w.actions.columns,
      names: [...w.actions.names, ...w.actions.names.map((n) => n.replace('class', 'tool'))],
      offsets: w.actions.offsets.map((x) => 2 * x),
      indices: Int32Array.from({ length: 2 * w.actions.indices.length }, (_, i) => {
        const j = w.actions.indices[i >> 1]!;
        return i % 2 === 0 ? j : j + w.actions.columns;
      }),
      values: new Float64Array(2 * w.actions.indices.length).fill(1),
    };
    const rows = meanByAction(fit.rows, two, fit.v, fit.advantage, fit.delta);
    expect(rows.map((x) => x.action).sort()).toEqual([
      'class=cheap, tool=cheap',
      'class=submit, tool=submit',
      'class=think, tool=think',
    ]);
    expect(rows.map((x) => x.delta)).toEqual(good.actions.map((x) => x.delta));
  });
});
