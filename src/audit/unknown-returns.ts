import type { Reason } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { cutShortWords, missingReturns, missingWords } from '../value/outcomes.ts';
import type { Evidence } from './reasons.ts';

/**
 * What speaks against the value because the logs do not show how episodes went, or how they would have ended. Episodes
 * count by the target's weight: what it would never have done takes nothing from its value. The bias that is possible,
 * share × return range, is held against the interval as well, since a narrow one hides less.
 */
export function unknownReturns({ evaluation }: Evidence, c: AuditConfig): Reason[] {
  const out: Reason[] = [];
  const { episodes, bounds, estimates } = evaluation;
  const { used, withoutReturn, aborted, cutShort, cutShortWeight, missingWeight } = episodes;
  const range = bounds === null ? null : bounds.range.hi - bounds.range.lo;
  const interval = estimates.find((e) => e.estimator === 'WPDIS carried')?.interval ?? null;
  const half = interval === null ? null : (interval.hi - interval.lo) / 2;
  const say = (code: string, message: string, value: number, weak: number, most: number): void => {
    const bias = range === null || half === null ? 0 : value * range;
    if (value > most) out.push({ code, verdict: 'refused', message, value, threshold: most });
    else if (value > weak) out.push({ code, verdict: 'weak', message, value, threshold: weak });
    else if (half !== null && bias > c.weakHidden * half)
      out.push({
        code,
        verdict: 'weak',
        message: `${message}; that may shift the value by ${bias.toPrecision(2)}, and the interval is ± ${half.toPrecision(2)}`,
        value: bias / half,
        threshold: c.weakHidden,
      });
  };
  const { missing, share } = missingReturns(episodes);
  if (missing > 0)
    say('missing-returns', missingWords(episodes), missingWeight ?? share, c.weakMissing, c.maxMissing);
  const lost = aborted / (used + withoutReturn);
  if (lost > c.weakAborted)
    out.push({
      code: 'many-aborted',
      verdict: 'weak',
      message: missingWords(episodes),
      value: lost,
      threshold: c.weakAborted,
    });
  if (cutShort > 0)
    say(
      'cut-short',
      cutShortWords(episodes),
      cutShortWeight ?? cutShort / used,
      c.weakCutShort,
      c.maxCutShort,
    );
  return out;
}
