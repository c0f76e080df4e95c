import type { Audit, Verdict } from '../schema/audit.ts';
import { failure } from '../schema/error.ts';
import type { Estimate, Interval } from '../schema/estimate.ts';
import type { PolicyComparison } from '../schema/policy-comparison.ts';

/** What a candidate must show before it is deployed; both where both are given. Margins in units of the return. */
export interface GateRule {
  /** The difference from the logging policy is above this margin, 0 for "better at all". */
  readonly better?: number | undefined;
  /** The difference is not below minus this margin. */
  readonly notWorse?: number | undefined;
}

export interface Gated {
  readonly passed: boolean;
  readonly reason: string;
}

/**
 * Whether the logs show that a target is better, or not worse, than the logging policy: the verdict is
 * "supported" and the lower end of the two-sided interval of the paired difference is beyond the margin. At the
 * level of 95 % a policy that is not better passes with probability 2.5 % at most.
 * Of several targets each is judged by its simultaneous interval, so that the best of them may be picked.
 * @returns of several: passed where all of them pass
 */
export function gate(result: Audit | PolicyComparison, rule: GateRule): Gated {
  checkRule(rule);
  if ('policies' in result) {
    const each = result.policies.map(({ policy }) => gateOf(result, policy, rule));
    return {
      passed: each.length > 0 && each.every((x) => x.passed),
      reason: each.map((x) => x.reason).join('; '),
    };
  }
  const difference = result.evaluation?.difference ?? null;
  const note = difference?.warnings.at(-1)?.message ?? difference?.support?.reasons[0];
  return judged(
    result.target,
    result.verdict,
    difference?.value ?? null,
    claimed(difference) ? (difference?.interval ?? null) : null,
    rule,
    note,
  );
}

/** The same of one of several targets that were compared. */
export function gateOf({ policies, band }: PolicyComparison, policy: string, rule: GateRule): Gated {
  checkRule(rule);
  const found = policies.find((p) => p.policy === policy);
  if (found === undefined)
    throw failure({ subject: `policy "${policy}"`, wrong: 'is not among those compared' });
  const of = band?.values.find((v) => v.policy === policy && v.against === 'behaviour');
  // A difference without spread has a simultaneous interval of width 0, which says nothing.
  const interval =
    of !== undefined && claimed(of.estimate) && spread(of.simultaneous) ? of.simultaneous : null;
  return judged(policy, found.verdict, of?.estimate.value ?? null, interval, rule);
}

function judged(
  target: string,
  verdict: Verdict,
  value: number | null,
  interval: Interval | null,
  { better, notWorse }: GateRule,
  note?: string,
): Gated {
  const no = (why: string): Gated => ({ passed: false, reason: `"${target}": ${why}` });
  if (verdict !== 'supported')
    return no(`the verdict is ${verdict}, and only a supported one says how the target differs`);
  if (value === null || interval === null)
    return no(
      `its difference from the logging policy has no interval that claims its coverage${note ? ` (${note})` : ''}`,
    );
  const shown = `its difference from the logging policy is ${digits(value)} [${digits(interval.lo)}, ${digits(interval.hi)}]`;
  const short = `${shown}, and the lower end is`;
  if (better !== undefined && !(interval.lo > better))
    return no(`${short} not above ${better}: not shown to be better${better === 0 ? '' : ' by the margin'}`);
  if (notWorse !== undefined && !(interval.lo >= -notWorse))
    return no(`${short} below −${notWorse}: it may be worse by more than the margin`);
  const beyond = [
    better === undefined ? '' : `above ${better}`,
    notWorse === undefined ? '' : `not below −${notWorse}`,
  ].filter((x) => x !== '');
  return { passed: true, reason: `"${target}": ${short} ${beyond.join(' and ')}` };
}

/** Whether the influence values of a difference bear its interval. */
const claimed = (e: Estimate | null): boolean => e?.support?.verdict !== 'weak';

/** With enough digits to tell small differences, those of click rates for instance, from 0. */
const digits = (x: number): string =>
  (Math.abs(x) >= 0.001 || x === 0 ? x.toFixed(3) : x.toExponential(2)).replace('-', '−');

const spread = (interval: Interval | null): boolean =>
  interval !== null &&
  interval.hi - interval.lo > 1e-12 * Math.max(Math.abs(interval.lo), Math.abs(interval.hi), 1);

function checkRule({ better, notWorse }: GateRule): void {
  for (const [name, margin] of Object.entries({ better, notWorse }))
    if (margin !== undefined && !(Number.isFinite(margin) && margin >= 0))
      throw failure({
        subject: name,
        wrong: 'is no margin',
        got: margin,
        expected: 'a number of at least 0',
        exitCode: 2,
      });
  if (better === undefined && notWorse === undefined)
    throw failure({
      subject: 'gate',
      wrong: 'has no rule',
      expected: '{ better } or { notWorse }',
      exitCode: 2,
    });
}
