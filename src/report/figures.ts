import * as Plot from '@observablehq/plot';
import { greatest, least } from '../math/extremes.ts';
import { BAD, GOOD, INK, PALETTE, SOFT, short, svg } from './figure.ts';
import type { Html } from './page.ts';
import { plain } from './plain.ts';

/** Counts by category, in the order given. */
export function bars(rows: readonly { label: string; value: number }[], axis: string): Html {
  const data = rows.map((r) => ({ label: plain(r.label), value: r.value }));
  return svg((narrow) => ({
    ...labelled(
      data.map((r) => r.label),
      narrow,
    ),
    marginRight: 60,
    height: 58 + 24 * data.length,
    x: { label: axis, grid: true, nice: true, ...wholeCounts(greatest(data.map((r) => r.value))) },
    y: {
      label: null,
      domain: data.map((r) => r.label),
      tickFormat: (label: string) => short(label, narrow ? 14 : 28),
    },
    marks: [
      Plot.barX(data, { x: 'value', y: 'label', fill: INK, fillOpacity: 0.8 }),
      Plot.text(data, {
        x: 'value',
        y: 'label',
        text: (d) => d.value.toLocaleString('en-US'),
        dx: 4,
        textAnchor: 'start',
      }),
      Plot.ruleX([0]),
    ],
  }));
}

/** Room at the left for the longest label, as it is cut. */
const labelled = (labels: readonly string[], narrow: boolean) => ({
  marginLeft: 20 + 7 * Math.max(4, greatest(labels.map((l) => short(l, narrow ? 14 : 28).length))),
});

/** Counts by a whole number (turns of an episode, successes of a task). */
export function counts(found: readonly { x: number; count: number }[], axis: string, what: string): Html {
  const rows = withEmpty(found);
  return svg(() => ({
    height: 200,
    x: { label: axis, type: 'band', tickFormat: (d: number) => String(d) },
    y: { label: what, grid: true, nice: true, ...wholeCounts(greatest(rows.map((r) => r.count))) },
    marks: [Plot.barY(rows, { x: 'x', y: 'count', fill: INK, fillOpacity: 0.8 }), Plot.ruleY([0])],
  }));
}

/** Whole numbers between the least and the largest that nothing has stand as 0, unless they are very many. */
function withEmpty(rows: readonly { x: number; count: number }[]): { x: number; count: number }[] {
  const by = new Map(rows.map((r) => [r.x, r.count]));
  const lo = least(rows.map((r) => r.x));
  const span = greatest(rows.map((r) => r.x)) - lo;
  if (rows.length === 0 || span > 200) return [...rows];
  return Array.from({ length: span + 1 }, (_, i) => ({ x: lo + i, count: by.get(lo + i) ?? 0 }));
}

export interface IntervalRow {
  readonly label: string;
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  /** `interval` is drawn solid, `bounds` dashed. */
  readonly kind: 'interval' | 'bounds';
  readonly exact?: number | null;
}

/** Estimates with their intervals (solid) or bounds (dashed), and exact values where they are known (a cross). */
export function intervals(
  rows: readonly IntervalRow[],
  axis: string,
  reference?: { value: number; label: string },
): Html {
  const data = rows.map((r) => ({ ...r, label: plain(r.label) }));
  const spans = data.filter((r) => r.lo !== null && r.hi !== null);
  return svg((narrow) => ({
    ...labelled(
      data.map((r) => r.label),
      narrow,
    ),
    height: 60 + 28 * data.length,
    x: { label: axis, grid: true, nice: true },
    y: {
      label: null,
      domain: data.map((r) => r.label),
      type: 'point',
      tickFormat: (label: string) => short(label, narrow ? 14 : 28),
    },
    marks: [
      ...(reference ? [Plot.ruleX([reference.value], { stroke: SOFT, strokeDasharray: '2,3' })] : []),
      ...(['interval', 'bounds'] as const).map((kind) =>
        Plot.ruleY(
          spans.filter((r) => r.kind === kind),
          {
            x1: 'lo',
            x2: 'hi',
            y: 'label',
            stroke: INK,
            strokeWidth: 2.5,
            ...(kind === 'bounds' ? { strokeDasharray: '4,4' } : {}),
          },
        ),
      ),
      Plot.dot(
        data.filter((r) => r.value !== null),
        { x: 'value', y: 'label', fill: INK, r: 4.5 },
      ),
      Plot.dot(
        data.filter((r) => typeof r.exact === 'number'),
        { x: 'exact', y: 'label', symbol: 'times', stroke: BAD, strokeWidth: 2, r: 5 },
      ),
    ],
  }));
}

/** One line a series over stages, on a logarithmic axis where the values span decades. */
export function lines(
  rows: readonly { series: string; x: number; y: number }[],
  axes: { x: string; y: string },
  scale: 'log' | 'linear' = 'linear',
): Html {
  const data = rows
    .filter((r) => Number.isFinite(r.y) && (scale === 'linear' || r.y > 0))
    .map((r) => ({ ...r, series: plain(r.series) }));
  const series = [...new Set(data.map((r) => r.series))];
  const span = decades(data.map((r) => r.y));
  const last = series.map((s) => data.filter((r) => r.series === s).at(-1)!);
  return svg((narrow) => ({
    height: 260,
    marginRight: 30 + 7 * Math.max(0, greatest(series.map((s) => short(s, narrow ? 10 : 28).length))),
    x: { label: axes.x, ticks: wholeTicks(data.map((r) => r.x)), tickFormat: String },
    y: {
      label: axes.y,
      type: scale,
      grid: true,
      ...(scale === 'log' ? { domain: span, ticks: oneTwoFive(span), tickFormat: String } : { nice: true }),
    },
    color: { domain: series, range: PALETTE },
    marks: [
      Plot.lineY(data, { x: 'x', y: 'y', stroke: 'series', strokeWidth: 2 }),
      Plot.dot(data, { x: 'x', y: 'y', fill: 'series', r: 3 }),
      Plot.text(last, {
        x: 'x',
        y: 'y',
        text: (r) => short(r.series, narrow ? 10 : 28),
        fill: 'series',
        dx: 8,
        textAnchor: 'start',
      }),
    ],
  }));
}

/** 1, 2 and 5 times the powers of ten of a logarithmic axis; the powers alone where it spans many. */
function oneTwoFive([lo, hi]: readonly [number, number]): number[] {
  const from = Math.round(Math.log10(lo));
  const to = Math.round(Math.log10(hi));
  const heads = to - from > 4 ? [1] : [1, 2, 5];
  const out: number[] = [];
  // Through decimals: 5 · 10⁻² as a product is not 0.05.
  for (let e = from; e < to; e++) for (const k of heads) out.push(Number(`${k}e${e}`));
  return [...out, hi];
}

/** From the power of ten below the values to the one above, so that the axis has names at both ends. */
function decades(ys: readonly number[]): [number, number] {
  if (ys.length === 0) return [0.1, 1];
  const from = Math.floor(Math.log10(least(ys)) + 1e-9);
  const to = Math.max(from + 1, Math.ceil(Math.log10(greatest(ys)) - 1e-9));
  return [Number(`1e${from}`), Number(`1e${to}`)];
}

/** Counts have no ticks between whole numbers. */
const wholeCounts = (most: number) => (most < 10 ? { interval: 1 } : {});

/** Whole numbers from the least to the largest x, about a dozen of them. */
function wholeTicks(xs: readonly number[]): number[] {
  const lo = least(xs);
  const hi = greatest(xs);
  const step = Math.max(1, Math.ceil((hi - lo) / 12));
  return Array.from({ length: Math.floor((hi - lo) / step) + 1 }, (_, i) => lo + i * step);
}

/** From the lowest to the highest end of bars of ± 1.96 standard errors, 0 among them. */
function barEnds(bars: readonly (readonly [at: number, se: number | null])[]): [number, number] {
  const ends = bars.flatMap(([at, se]) => [at - 1.96 * (se ?? 0), at + 1.96 * (se ?? 0)]);
  const [lo, hi] = [Math.min(0, least(ends)), Math.max(0, greatest(ends))];
  return lo < hi ? [lo, hi] : [-1, 1];
}

/** Means with ± 1.96 standard errors by stage, against zero; those off it in red. */
export function stageMeans(
  rows: readonly { stage: number; mean: number; se: number | null; off: boolean }[],
  axes: { x: string; y: string },
): Html {
  return svg(() => ({
    height: 220,
    x: {
      label: axes.x,
      ticks: wholeTicks(rows.map((r) => r.stage)),
      tickFormat: String,
      inset: 12,
    },
    y: { label: axes.y, grid: true, nice: true, domain: barEnds(rows.map((r) => [r.mean, r.se])) },
    marks: [
      Plot.ruleY([0], { stroke: SOFT }),
      Plot.ruleX(
        rows.filter((r) => r.se !== null),
        {
          x: 'stage',
          y1: (r) => r.mean - 1.96 * r.se,
          y2: (r) => r.mean + 1.96 * r.se,
          stroke: (r) => (r.off ? BAD : INK),
          strokeWidth: 2,
        },
      ),
      Plot.dot(rows, { x: 'stage', y: 'mean', fill: (r) => (r.off ? BAD : INK), r: 4 }),
    ],
  }));
}

/** Predicted against observed, with ± 1.96 standard errors and the diagonal. */
export function calibration(
  rows: readonly { predicted: number; observed: number; se: number | null }[],
): Html {
  // One scale for both axes: the diagonal and all bars lie inside.
  const [lo, hi] = barEnds([
    ...rows.map((r) => [r.observed, r.se] as const),
    ...rows.map((r) => [r.predicted, 0] as const),
  ]);
  return svg((narrow) => ({
    height: 300,
    ...(narrow ? {} : { width: 360 }),
    x: { label: 'predicted', nice: true, grid: true, domain: [lo, hi] },
    y: { label: 'observed', nice: true, grid: true, domain: [lo, hi] },
    marks: [
      Plot.line(
        [
          { x: lo, y: lo },
          { x: hi, y: hi },
        ],
        { x: 'x', y: 'y', stroke: SOFT, strokeDasharray: '4,4' },
      ),
      Plot.ruleX(
        rows.filter((r) => r.se !== null),
        {
          x: 'predicted',
          y1: (r) => r.observed - 1.96 * r.se,
          y2: (r) => r.observed + 1.96 * r.se,
          stroke: INK,
          strokeWidth: 2,
        },
      ),
      Plot.dot(rows, { x: 'predicted', y: 'observed', fill: INK, r: 4 }),
    ],
  }));
}

export interface TurnStep {
  readonly turn: number;
  readonly v: number;
  readonly next: number;
  readonly mark: 'helpful' | 'harmful' | null;
}

/** Reward so far + V of one episode, before and after each turn; marked turns in colour. */
export function episodeValues(steps: readonly TurnStep[], outcome: number): Html {
  const end = steps.length === 0 ? 0 : steps.at(-1)!.turn + 1;
  return svg(() => ({
    height: 240,
    x: { label: 'turn', ticks: wholeTicks([...steps.map((s) => s.turn), end]), tickFormat: String },
    y: { label: 'reward so far + V', grid: true, nice: true },
    marks: [
      Plot.link(steps, {
        x1: 'turn',
        x2: (s: TurnStep) => s.turn + 1,
        y1: 'v',
        y2: 'next',
        stroke: (s: TurnStep) => (s.mark === null ? INK : s.mark === 'helpful' ? GOOD : BAD),
        strokeWidth: 2.5,
      }),
      Plot.dot(steps, { x: 'turn', y: 'v', fill: INK, r: 3.5 }),
      Plot.dot([{ x: end, y: outcome }], { x: 'x', y: 'y', symbol: 'diamond', fill: INK, r: 6 }),
    ],
  }));
}
