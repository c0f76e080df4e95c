import { actionMark, isLoud } from '../critic/marks.ts';
import { NO_SPREAD } from '../math/no-spread.ts';
import type { CriticReport } from '../schema/credit.ts';
import type { Report } from '../schema/report.ts';
import { counted, formatInterval, formatNumber, formatShare } from './format.ts';
import { headline } from './headline.ts';
import { type Html, html, list } from './page.ts';

/** The answers in a few lines, before anything else. */
export function summarySection(report: Report): Html {
  const lines = [logs(report), trust(report), critic(report), ...report.targets.map(candidate)];
  return html(`<div class="summary">${list(lines).html}</div>`);
}

function logs({ description: d }: Report): string {
  const what = `${counted(d.episodes, 'episode')} of ${counted(d.tasks, 'task')}, ${counted(d.turns, 'turn')}`;
  const r = d.reward;
  if (!r) return `${what}; no episode has a return.`;
  const interval = r.interval
    ? `${formatInterval(r.interval)} (${formatShare(r.interval.level)} interval, for new tasks)`
    : `without an interval: ${r.clusters < 5 ? 'fewer than 5 tasks' : NO_SPREAD}`;
  return `${what}. Mean return ${formatNumber(r.mean)}, ${interval}.`;
}

function trust({ check }: Report): string {
  const [first] = check.findings;
  if (!first) return 'The checks of the logs found nothing.';
  const named: [number, string][] = [
    [check.errors, 'error'],
    [check.warnings, 'warning'],
    [check.notes, 'note'],
  ];
  const counts = named
    .filter(([n]) => n > 0)
    .map(([n, what]) => counted(n, what))
    .join(', ');
  return `The checks of the logs found ${counts}, first: ${sentence(first.message)}`;
}

function critic({ credit: c, creditRefused }: Report): string {
  if (!c) return refusal(creditRefused);
  const loud = c.warnings.filter(isLoud);
  if (loud.length > 0)
    return `Turns: nothing is called helpful or harmful, as ${sentence(loud.map((w) => w.message).join('; '))}`;
  const r2 = `R² ${formatNumber(c.heldOut.r2)} on tasks it did not see`;
  return `Turns: the critic beats a constant (${r2}). ${marked(c)}`;
}

/** Why there is no critic, in a sentence. */
export const refusal = (reason: string | null): string =>
  `No turn is valued: ${sentence((reason ?? 'no critic was fitted').replace(/^critic: /, ''))}`;

function marked(c: CriticReport): string {
  const names = (mark: 'helpful' | 'harmful') =>
    c.actions.filter((a) => actionMark(c, a) === mark).map((a) => a.action);
  const some = (mark: 'helpful' | 'harmful', of: string[]) =>
    of.length === 0 ? `no action is clearly ${mark}` : `${mark}: ${first(of, 3)}`;
  return `Of ${c.actions.length} actions compared, ${some('helpful', names('helpful'))}; ${some('harmful', names('harmful').reverse())}.`;
}

const first = (names: readonly string[], n: number): string =>
  names.slice(0, n).join(' · ') + (names.length > n ? ` and ${names.length - n} more` : '');

function candidate({ audit, exact }: Report['targets'][number]): string {
  const e = headline(audit);
  const bounds = audit.evaluation?.bounds;
  const value =
    audit.verdict === 'refused'
      ? bounds
        ? `no estimate, bounds ${formatInterval(bounds)}`
        : 'no estimate'
      : `estimate ${formatNumber(e?.value)}${e?.interval ? ` ${formatInterval(e.interval)}` : ''}`;
  const known = exact === null ? '' : `; exactly ${formatNumber(exact)}`;
  return `Candidate ${audit.target}: ${audit.verdict}, ${value}${known}.`;
}

const sentence = (text: string): string => `${text.replace(/[.;\s]+$/, '')}.`;
