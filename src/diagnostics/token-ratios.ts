/*
 * Token by token: log ρ = log π(token) − log b(token) over the action tokens.
 *
 *   product          log w = Σ log ρ        what importance weights are made of; spreads with length
 *   geometric mean   Σ log ρ / tokens       drift per token; a filter, it estimates the behaviour's
 *                                           own value and never enters a value or a verdict
 *
 * Sums by turn are added up chunk by chunk, so tokens need not be in memory. O(tokens + episodes log episodes).
 */
import { quantileSorted } from '../math/statistics.ts';
import type { TokenGroup, TokenRatios } from '../schema/token-ratios.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { TokenChunk } from '../weights/token-scores.ts';

/** |log ρ| beyond which a token counts as moved. */
export const MOVED = 0.1;
const SHOWN = 10;

/** What has been seen of the tokens so far. */
export interface TokenSums {
  readonly sum: Float64Array; // [S] Σ log ρ
  readonly count: Int32Array; // [S] tokens compared
  tokens: number;
  uncompared: number;
  impossible: number;
  absolute: number; // Σ |log ρ| of possible tokens
  beyond: number;
  largest: number;
  /** Of log b and log π over possible tokens. */
  b: number;
  p: number;
  bb: number;
  bp: number;
  pp: number;
}

export function tokenSums(t: Trajectories): TokenSums {
  const S = t.turns.turn.length;
  const zero = { tokens: 0, uncompared: 0, impossible: 0, absolute: 0, beyond: 0, largest: 0 };
  return { sum: new Float64Array(S), count: new Int32Array(S), ...zero, b: 0, p: 0, bb: 0, bp: 0, pp: 0 };
}

export function addTokens(sums: TokenSums, chunk: TokenChunk): void {
  for (let i = 0; i < chunk.rows; i++) {
    const p = chunk.target[i]!;
    const b = chunk.behaviour[i]!;
    const log = p - b;
    if (Number.isNaN(log) || b === -Infinity) {
      sums.uncompared++;
      continue;
    }
    const s = chunk.turnRow[i]!;
    sums.tokens++;
    sums.sum[s] = sums.sum[s]! + log;
    sums.count[s] = sums.count[s]! + 1;
    const size = Math.abs(log);
    if (size > MOVED) sums.beyond++;
    if (size > sums.largest) sums.largest = size;
    if (p === -Infinity) {
      sums.impossible++;
      continue;
    }
    sums.absolute += size;
    sums.b += b;
    sums.p += p;
    sums.bb += b * b;
    sums.bp += b * p;
    sums.pp += p * p;
  }
}

/** The report, of the episodes of the view. */
export function tokenRatios(t: Trajectories, sums: TokenSums): TokenRatios {
  const { task, versionStart, versionEnd } = t.episodes;
  const N = t.index.length;
  const product = new Float64Array(N);
  const tokens = new Float64Array(N);
  const turnProduct: number[] = [];
  const turnMean: number[] = [];
  t.index.forEach((e, i) => {
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      if (sums.count[s] === 0) continue;
      product[i] = product[i]! + sums.sum[s]!;
      tokens[i] = tokens[i]! + sums.count[s]!;
      turnProduct.push(sums.sum[s]!);
      turnMean.push(sums.sum[s]! / sums.count[s]!);
    }
  });
  const groups = (label: (i: number) => readonly [order: number, name: string] | null): TokenGroup[] => {
    const members = new Map<string, { order: number; rows: number[] }>();
    for (let i = 0; i < N; i++) {
      const of = tokens[i]! > 0 ? label(i) : null;
      if (of === null) continue;
      const group = members.get(of[1]) ?? { order: of[0], rows: [] };
      members.set(of[1], group);
      group.rows.push(i);
    }
    return [...members]
      .sort(([x, a], [y, b]) => a.order - b.order || (x < y ? -1 : 1))
      .map(([name, { rows }]) => groupOf(name, rows, product, tokens));
  };
  const drift = (g: TokenGroup): number => Math.abs(g.logGeometricMean.q50 ?? Infinity);
  const all = [...tokens.keys()].filter((i) => tokens[i]! > 0);
  const possible = sums.tokens - sums.impossible;
  return {
    tokens: sums.tokens,
    uncompared: sums.uncompared,
    impossible: sums.impossible,
    meanAbs: possible > 0 ? sums.absolute / possible : null,
    beyond: sums.tokens > 0 ? sums.beyond / sums.tokens : 0,
    largest: finite(sums.largest),
    all: groupOf('all', all, product, tokens),
    byLength: groups((i) => lengthBucket(tokens[i]!)),
    byTask: groups((i) => {
      const code = task.codes[t.index[i]!]!;
      return code < 0 ? null : [0, task.values[code]!];
    })
      .sort((a, b) => drift(b) - drift(a))
      .slice(0, SHOWN),
    byLag: groups((i) => {
      const e = t.index[i]!;
      const lag = versionLag(
        versionStart.values[versionStart.codes[e]!],
        versionEnd.values[versionEnd.codes[e]!],
      );
      return lag === null ? null : [lag, `lag ${lag}`];
    }),
    turns: { logProduct: quantiles(turnProduct), logGeometricMean: quantiles(turnMean) },
    aa: null,
  };
}

/** version_end − version_start where both are numbers after the same word, "step-12" and "step-15". */
export function versionLag(start: string | undefined, end: string | undefined): number | null {
  const [a, b] = [start, end].map((v) => (v === undefined ? null : /^(.*?)(\d+(?:\.\d+)?)$/.exec(v)));
  if (!a || !b || a[1] !== b[1]) return null;
  return Number(b[2]) - Number(a[2]);
}

/** Powers of four from 16 on. */
function lengthBucket(tokens: number): readonly [number, string] {
  let to = 16;
  while (tokens > to) to *= 4;
  return [to, `${to === 16 ? 1 : to / 4 + 1}–${to} tokens`];
}

function groupOf(
  group: string,
  rows: readonly number[],
  product: Float64Array,
  tokens: Float64Array,
): TokenGroup {
  return {
    group,
    episodes: rows.length,
    tokens: rows.reduce((sum, i) => sum + tokens[i]!, 0),
    logProduct: quantiles(rows.map((i) => product[i]!)),
    logGeometricMean: quantiles(rows.map((i) => product[i]! / tokens[i]!)),
  };
}

function quantiles(values: readonly number[]): TokenGroup['logProduct'] {
  const sorted = Float64Array.from(values).sort();
  const at = (q: number): number | null => finite(quantileSorted(sorted, q));
  return { q05: at(0.05), q25: at(0.25), q50: at(0.5), q75: at(0.75), q95: at(0.95) };
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
