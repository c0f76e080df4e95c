import * as Plot from '@observablehq/plot';
import { greatest, least } from '../math/extremes.ts';
import { INK, PAPER, short, svg } from './figure.ts';
import type { Html } from './page.ts';
import { plain } from './plain.ts';

export interface ForestRow {
  readonly label: string;
  readonly verdict: 'supported' | 'weak' | 'refused';
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
}

/** Differences with their intervals against a line at 0; the verdict shows in the shape of the mark, not in its colour. */
export function forest(rows: readonly ForestRow[]): Html {
  const data = rows.map((r, i) => ({ ...r, key: String(i), name: plain(r.label) }));
  const drawn = data.filter((r) => r.value !== null);
  const ends = drawn.flatMap((r) => [r.value!, r.lo ?? r.value!, r.hi ?? r.value!]);
  const [lo, hi] = [Math.min(0, least(ends)), Math.max(0, greatest(ends))];
  const room = lo < hi && Number.isFinite(hi - lo) ? (hi - lo) / 20 : 1;
  const names = (narrow: boolean) => data.map((r) => short(r.name, narrow ? 12 : 20));
  // A word beside the line at 0 stands where there is more room.
  const right = hi >= -lo;
  return svg((narrow) => ({
    ...(narrow ? {} : { width: 460, style: { fontSize: '13px' } }),
    marginLeft: 20 + 8 * Math.max(4, greatest(names(narrow).map((n) => n.length))),
    marginBottom: 40,
    height: 78 + 34 * data.length,
    x: {
      label: 'candidate − logging policy',
      grid: true,
      ticks: 4,
      domain: ends.length > 0 ? [lo - room, hi + room] : [-1, 1],
    },
    y: {
      label: null,
      domain: data.map((r) => r.key),
      type: 'point',
      tickFormat: (key: string) => names(narrow)[Number(key)]!,
    },
    marks: [
      Plot.ruleX([0], { stroke: 'currentColor', strokeWidth: 1.5 }),
      ...(['supported', 'weak'] as const).map((verdict) =>
        Plot.ruleY(
          drawn.filter((r) => r.verdict === verdict && r.lo !== null && r.hi !== null),
          {
            x1: 'lo',
            x2: 'hi',
            y: 'key',
            stroke: INK,
            strokeWidth: 2.5,
            ...(verdict === 'weak' ? { strokeDasharray: '5,4' } : {}),
          },
        ),
      ),
      Plot.dot(drawn, {
        x: 'value',
        y: 'key',
        fill: (r) => (r.verdict === 'supported' ? INK : PAPER),
        stroke: INK,
        strokeWidth: 2,
        r: 5,
      }),
      Plot.text(
        data.filter((r) => r.value === null),
        {
          x: () => 0,
          y: 'key',
          text: (r) => (r.verdict === 'refused' ? '✕ refused' : 'no estimate'),
          dx: right ? 8 : -8,
          textAnchor: right ? 'start' : 'end',
        },
      ),
    ],
  }));
}
