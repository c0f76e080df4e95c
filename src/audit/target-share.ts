import type { Stage } from '../schema/audit.ts';

/** Standard errors up to which a share above 1 may be sampling error. */
const CHANCE = 3;

/**
 * The estimated share of the target's episodes that reach a turn, in words: mean of w_{t−1} over the
 * alive, at most the mean weight of the turn before. Above 1 it is sampling error or, beyond it, impossible;
 * how far beyond says nothing and is not spelled out.
 */
export function shareInWords(stages: readonly Stage[], turn: number): string {
  const share = stages[turn]?.targetShare ?? null;
  if (share === null) return '–';
  if (share <= 1) return `≈ ${percent(share)}`;
  const error = stages[turn - 1]?.meanWeightSe ?? 0;
  return share <= 1 + CHANCE * error + 1e-4 ? '≈ 100 %' : 'an impossible > 100 %';
}

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
