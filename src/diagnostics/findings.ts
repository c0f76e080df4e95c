import type { Diagnostics } from '../schema/diagnostics.ts';

type Finding = Diagnostics['findings'][number];

/** A calibration error that changes weights by about this share of the class's probability. */
const MISCALIBRATED = 0.05;
const UNBALANCED = 0.1;
const BARELY = 0.05;

/** What stands out in the diagnostics, in words. */
export function findingsOf(d: Omit<Diagnostics, 'findings'>): Finding[] {
  const out: Finding[] = [];
  const say = (code: string, message: string): void => void out.push({ code, message });
  const { points, moves } = d.truncation;
  // Of IS it says little: where no return is negative every cap can only lower it.
  if (moves.hajek !== null)
    say(
      'moves-with-cap',
      `capping the weights moves the value one way, from ${show(points[0]!.hajek)} to ${show(points.at(-1)!.hajek)} at the tightest cap, beyond its standard error: it rests on the largest weights`,
    );
  const thin = d.stages
    .map((s) => ({ s, share: s.positivity?.below.find((x) => x.alpha === 0.05)?.share ?? 0 }))
    .reduce<{ turn: number; share: number } | null>(
      (most, { s, share }) => (share > BARELY && share > (most?.share ?? 0) ? { turn: s.turn, share } : most),
      null,
    );
  if (thin !== null)
    say(
      'barely-supported',
      `at turn ${thin.turn} ${percent(thin.share)} of what the target does has a propensity under 0.05`,
    );
  const { calibration: c } = d;
  if (c !== null) {
    const off = c.classes.reduce((worst, x) => (x.error > worst.error ? x : worst), c.classes[0]!);
    if (off !== undefined && off.error > MISCALIBRATED)
      say(
        'miscalibrated',
        `the propensity of ${off.actionClass} is off by ${show(off.error)} on average over its bins`,
      );
    if (c.logLoss === null || c.logLoss >= c.logLossConstant)
      say(
        'no-better-than-frequencies',
        'the propensities predict actions no better than their frequencies do',
      );
  }
  const unbalanced = d.stages
    .flatMap((s) => s.balance.map((b) => ({ ...b, turn: s.turn, alive: s.alive })))
    .filter((b) => b.smdOverlap !== null && Math.abs(b.smdOverlap) > UNBALANCED + 4 / Math.sqrt(b.alive));
  const worst = unbalanced.reduce<(typeof unbalanced)[number] | null>(
    (most, b) => (most === null || Math.abs(b.smdOverlap!) > Math.abs(most.smdOverlap!) ? b : most),
    null,
  );
  if (worst !== null)
    say(
      'unbalanced',
      `after weighting, ${worst.covariate} still differs by ${show(worst.smdOverlap!)} standard deviations between turns ${worst.turn} that took ${worst.actionClass} and those that did not: the propensities miss it`,
    );
  for (const r of d.rules ?? []) say('unsupported-rule', r.rule);
  if (d.tokens?.aa?.finding != null) say('logprob-mismatch', d.tokens.aa.finding);
  return out;
}

const show = (x: number): string => x.toPrecision(3);
const percent = (x: number): string => `${(100 * x).toPrecision(2)} %`;
