import { parseHTML } from 'linkedom';
import { plain } from '../../src/report/plain.ts';
import type { Report } from '../../src/schema/report.ts';

/** The value that lies at "a/0/b" of the report as data. */
function valueAt(data: unknown, path: string): unknown {
  return path.split('/').reduce((x, key) => (x as Record<string, unknown> | null | undefined)?.[key], data);
}

/** Whether a text is a rounding of a value; read from the text alone, not made by the formatter of the page. */
export function rounds(text: string, value: number): boolean {
  if (text === '< 0.0001') return value < 0.0001;
  const bare = text
    .replace(/^at least /, '')
    .replaceAll(',', '')
    .replaceAll('−', '-')
    .replace(/^\+/, '');
  const [, mantissa, exponent = '0', share] = /^(-?\d+(?:\.\d+)?)(?:e([+-]?\d+))?( %)?$/.exec(bare) ?? [];
  if (mantissa === undefined) return false;
  const unit = 10 ** (Number(exponent) - (mantissa.split('.')[1]?.length ?? 0));
  const scaled = value * (share ? 100 : 1);
  return (
    Math.abs(Number(`${mantissa}e${exponent}`) - scaled) <= unit * 0.5 * (1 + 1e-6) + Math.abs(scaled) * 1e-12
  );
}

/** Numbers in sentences that are of no single value of the data: each is computed again here. */
const DERIVED: readonly (readonly [RegExp, (report: Report) => readonly number[]])[] = [
  [/of (\S+) compared within tasks/g, ({ credit }) => [compared(credit)]],
  [/(\S+) in between left out/g, ({ credit }) => [credit!.actions.length - 20]], // the page lists 20
  [/raised for (\S+) actions compared/g, ({ credit }) => [compared(credit)]],
  [
    /beyond (\S+) of their own standard errors, so that of all (\S+) supported turns/g,
    ({ credit: c }) => {
      const turns = Math.round(c!.turns * c!.supportedShare);
      return [twoSidedLimit(0.05 / turns), turns];
    },
  ],
  [
    /task’s difference, (\S+ %) lies between tasks/g,
    ({ comparisons }) =>
      comparisons.flatMap(({ comparison }) => {
        const v = comparison?.outcomes[0]?.power?.variance;
        return v ? [v.between / v.task] : [];
      }),
  ],
];

const compared = (c: Report['credit']): number => c!.actions.filter((a) => a.contrast.mean !== null).length;

/** z with P(|Z| > z) = p for a standard normal Z: bisection of the integral of its density, by Simpson’s rule. */
function twoSidedLimit(p: number): number {
  const tail = (z: number): number => {
    const steps = 2000;
    const h = 10 / steps; // beyond z + 10 the density is below 1e-22
    let sum = 0;
    for (let i = 0; i <= steps; i++)
      sum += (i === 0 || i === steps ? 1 : i % 2 ? 4 : 2) * Math.exp(-((z + i * h) ** 2) / 2);
    return (2 * sum * h) / 3 / Math.sqrt(2 * Math.PI);
  };
  let [lo, hi] = [0, 10];
  for (let i = 0; i < 60; i++) {
    const middle = (lo + hi) / 2;
    if (tail(middle) > p) lo = middle;
    else hi = middle;
  }
  return lo;
}

/** Numbers that no data changes, in the words around them: conventions, limits and the zeros and ones of definitions. */
const FIXED: readonly string[] = [
  'the line at 0 the candidate', // no difference
  '± 1.96 standard errors', // 95 % of a normal distribution
  'clustered by task: 0 for a critic', // what it should be
  'clearly off 0',
  'Clearly off 0, in red',
  '(3 standard errors or more, raised', // the limit of the figure
  'Of the episodes of 2 to 12 turns', // those that fit a screen
  'R²: 1 is perfect, 0 no better',
  'for k = 1, 2, …',
  'two-sided 5 % limit', // the level of the marks
  'by chance in 5 % of logs',
  'a weight above 0.',
  'Mean weight: 1 but for',
  'top 1 %', // the name of a column
  'above 0.7 heavy', // the limit of k̂
  'aborted as 0', // the name of a column
  'aborted episodes counted as 0',
  'Aborted episodes counted as 0',
  'fewer than 5 tasks', // no interval for new tasks below it
];

/**
 * What in a page is not what its data says: numbers that are no rounding of the value that they name, texts that are
 * not the text that they name, and any other number in the visible text (figures aside) that is neither fixed nor
 * computed again above.
 */
export function pageFaults(html: string, report: Report): string[] {
  const { document } = parseHTML(html.replaceAll(/<(svg|style|title)\b.*?<\/\1>/gs, ''));
  const data = JSON.parse(JSON.stringify(report)) as unknown;
  const wrong: string[] = [];
  for (const shown of [...document.querySelectorAll('data, span[data-of]')]) {
    const path = shown.getAttribute('data-of')!;
    const value = valueAt(data, path);
    const text = shown.textContent!;
    const right =
      shown.tagName === 'DATA'
        ? typeof value === 'number' && Number(shown.getAttribute('value')) === value && rounds(text, value)
        : typeof value === 'string' && sameText(text, value);
    if (!right) wrong.push(`${path}: ${text}, is ${value}`);
    shown.remove();
  }
  const title = document.querySelector('h1')!;
  if (!sameText(title.textContent!, report.title)) wrong.push(`title: ${title.textContent}`);
  title.remove();
  let rest = document.querySelector('main')!.textContent!;
  for (const [pattern, values] of DERIVED)
    rest = rest.replaceAll(pattern, (whole: string, ...found: string[]) => {
      const want = values(report);
      return want.length > 0 && want.every((x, i) => rounds(found[i]!, x)) ? '' : whole;
    });
  for (const words of FIXED) rest = rest.replaceAll(words, '');
  for (const [around] of rest.matchAll(/.{0,40}\d.{0,40}/g)) wrong.push(`of no data: ${around}`);
  return wrong;
}

/** As it stands in the data, or without the marks at its end or the subject at its beginning. */
const sameText = (text: string, value: string): boolean => {
  const whole = plain(value);
  const bare = whole.replace(/[.;\s]+$/, '');
  return [whole, bare, bare.replace(/^critic: /, '')].includes(text);
};

/** Where the numbers of the visible text stand in a page: figures, style and title aside. */
export function numbersOf(html: string): { from: number; text: string }[] {
  const skipped = /<(svg|style|title)\b.*?<\/\1>|<[^>]*>|&#?\w+;/gs;
  const blank = html.replaceAll(skipped, (part) => ' '.repeat(part.length));
  return [...blank.matchAll(/\d+(?:[.,]\d+)*/g)].map((m) => ({ from: m.index, text: m[0] }));
}
