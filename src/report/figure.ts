import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { type Html, html } from './page.ts';

const { document } = parseHTML('<!doctype html><html><body></body></html>');
const WIDTH = 640;
/** Of the drawing for a narrow screen: letters stay as large as the text beside them, and nothing is cut. */
const NARROW = 330;
/** Colours are those of the page's style, so that a figure follows a dark scheme; elsewhere the light ones hold. */
export const INK = 'var(--fig, #1f6feb)';
export const SOFT = 'var(--soft, #59636e)';
export const GOOD = 'var(--good, #1a7f37)';
export const BAD = 'var(--bad, #cf222e)';
export const PAPER = 'var(--paper, #fff)';
export const PALETTE = [
  INK,
  'var(--warm, #bc4c00)',
  GOOD,
  'var(--violet, #8250df)',
  'var(--warn, #9a6700)',
  BAD,
];

/**
 * Renders a plot to inline SVG, once for a wide and once for a narrow screen, of which the page shows one. Labels from
 * logs must have gone through `plain`.
 */
export const svg = (options: (narrow: boolean) => Plot.PlotOptions): Html =>
  html(draw(options(false), 'broad', WIDTH) + draw(options(true), 'narrow', NARROW));

function draw(options: Plot.PlotOptions, kind: string, width: number): string {
  const element = Plot.plot({
    width,
    marginTop: 28,
    marginLeft: 60,
    marginBottom: 36,
    style: { fontSize: '12px' },
    document: document as never,
    ...options,
  });
  element.setAttribute('role', 'img');
  element.classList.add(kind);
  // A picture has one name, its caption; Plot names the groups within, which no reader of a picture reaches.
  for (const group of element.querySelectorAll('g[aria-label]')) group.removeAttribute('aria-label');
  // Plot writes one style element a figure; class names are unique within a page by `className`.
  return element.outerHTML;
}

/** A label cut to the room that a figure has for it. */
export const short = (name: string, most: number): string =>
  name.length <= most ? name : `${name.slice(0, most - 1)}…`;
