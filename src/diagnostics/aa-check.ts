import type { AaCheck } from '../schema/token-ratios.ts';
import { MOVED, type TokenSums } from './token-ratios.ts';

/** Two engines of half precision agree to about 0.01 a token on average. */
const MEAN_ABS = 0.02;
const BEYOND = 0.02;

/**
 * A/A: the behaviour's own checkpoint re-scored through the path that scores targets must give
 * ratios near 1. A spread is a mismatch of log-probabilities, and every weight made that way is as
 * far off. O(1).
 */
export function aaCheck(sums: TokenSums): AaCheck {
  const n = sums.tokens - sums.impossible;
  const meanAbs = n > 0 ? sums.absolute / n : null;
  const beyond = sums.tokens > 0 ? sums.beyond / sums.tokens : 0;
  const bb = sums.bb - (sums.b * sums.b) / n;
  const pp = sums.pp - (sums.p * sums.p) / n;
  const bp = sums.bp - (sums.b * sums.p) / n;
  const slope = n > 1 && bb > 0 ? bp / bb : null;
  const correlation = n > 1 && bb > 0 && pp > 0 ? bp / Math.sqrt(bb * pp) : null;
  const ok = meanAbs !== null && meanAbs <= MEAN_ABS && beyond <= BEYOND && sums.impossible === 0;
  return {
    ok,
    tokens: sums.tokens,
    meanAbs,
    beyond,
    threshold: MOVED,
    largest: Number.isFinite(sums.largest) ? sums.largest : null,
    slope,
    correlation,
    finding: ok
      ? null
      : sums.tokens === 0
        ? 'no action token has a log-probability of both'
        : `log-probability mismatch: the behaviour re-scored differs from its log by ${(meanAbs ?? Number.NaN).toPrecision(2)} a token on average, ${(100 * beyond).toPrecision(2)} % of tokens by more than ${MOVED}`,
    causes: ok || sums.tokens === 0 ? [] : causes(sums, slope, correlation),
  };
}

function causes(sums: TokenSums, slope: number | null, correlation: number | null): string[] {
  const out: string[] = [];
  const alike = correlation !== null && correlation > 0.95;
  if (sums.impossible > 0)
    out.push(
      `raw against processed: ${sums.impossible} logged tokens have probability 0 under top-k or top-p sampling`,
    );
  if (alike && slope !== null && Math.abs(slope - 1) > 0.05)
    out.push(
      'another temperature, or raw against processed log-probabilities: the two are proportional rather than equal',
    );
  if (correlation !== null && correlation < 0.7)
    out.push('another tokenisation, or tokens shifted against each other: the two hardly go together');
  if (alike && out.length === 0)
    out.push('another engine, precision or checkpoint: the two go together but for noise');
  const rest = [
    'raw against processed log-probabilities',
    'another temperature',
    'another tokenisation',
    'another checkpoint',
  ];
  return out.length > 0 ? out : rest;
}
