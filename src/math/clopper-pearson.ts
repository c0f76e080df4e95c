/*
 * The exact interval of a probability where n trials all went the same way (Clopper & Pearson 1934, Biometrika 26):
 *
 *   n of n: [(α/2)^(1/n), 1]        0 of n: [0, 1 − (α/2)^(1/n)]        α = 1 − level
 *
 * Departures: only these two cases, which have a closed form; α is halved as elsewhere.
 */
export interface ExactInterval {
  readonly lo: number;
  readonly hi: number;
  readonly level: number;
  readonly method: string;
}

/** @param outcome of each of the `n` independent trials */
export function clopperPearsonAllAlike(outcome: 0 | 1, n: number, level: number): ExactInterval {
  const edge = ((1 - level) / 2) ** (1 / n);
  const [lo, hi] = outcome === 1 ? [edge, 1] : [0, 1 - edge];
  return {
    lo,
    hi,
    level,
    method: `Clopper-Pearson, ${n.toLocaleString('en-US')} of ${n.toLocaleString('en-US')} tasks alike`,
  };
}
