import type { Reason } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import { cutShortWords, missingReturns, missingWords } from '../value/outcomes.ts';

/** What speaks against the value because the logs do not show how episodes went, or how they would have ended. */
export function unknownReturns(episodes: Evaluation['episodes'], c: AuditConfig): Reason[] {
  const out: Reason[] = [];
  const say = (code: string, message: string, value: number, weak: number, most: number): void => {
    if (value > most) out.push({ code, verdict: 'refused', message, value, threshold: most });
    else if (value > weak) out.push({ code, verdict: 'weak', message, value, threshold: weak });
  };
  const { used, withoutReturn, aborted, cutShort, cutShortWeight } = episodes;
  say('missing-returns', missingWords(episodes), missingReturns(episodes).share, c.weakMissing, c.maxMissing);
  say('many-aborted', missingWords(episodes), aborted / (used + withoutReturn), c.weakAborted, Infinity);
  // A target may go where the cuts are, or where they are not: the larger share counts.
  const cut = Math.max(cutShort / used, cutShortWeight ?? 0);
  say('cut-short', cutShortWords(episodes), cut, c.weakCutShort, c.maxCutShort);
  return out;
}
