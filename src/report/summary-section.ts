import { actionMark, isLoud } from '../critic/marks.ts';
import { NO_SPREAD } from '../math/no-spread.ts';
import type { CriticReport } from '../schema/credit.ts';
import type { Report } from '../schema/report.ts';
import { formatShare } from './format.ts';
import { type Html, html, list } from './page.ts';
import {
  cited,
  citedBare,
  joined,
  shown,
  shownCounted,
  shownInterval,
  shownShare,
  words,
} from './shown-number.ts';

/** The answers in a few lines, before anything else. */
export function summarySection(report: Report): Html {
  const lines = [logs(report), ...named(report), trust(report), ...critic(report), ...deployment(report)];
  return html(
    `<div class="summary">${report.targets.length > 0 ? '<strong>The logs in short</strong>' : ''}${list(lines).html}</div>`,
  );
}

/** The policies that the logs name. */
function named({ description: d }: Report): Html[] {
  const names = d.policies.flatMap((p, i) =>
    p.policy === null ? [] : [cited(`description/policies/${i}/policy`, p.policy)],
  );
  return names.length === 0
    ? []
    : [words`Logged ${names.length === 1 ? 'policy' : 'policies'}: ${first(names, 5)}.`];
}

function logs({ description: d }: Report): Html {
  const count = (at: 'episodes' | 'tasks' | 'turns', one: string) =>
    shownCounted(`description/${at}`, d[at], one);
  const what = words`${count('episodes', 'episode')} of ${count('tasks', 'task')}, ${count('turns', 'turn')}`;
  const r = d.reward;
  if (!r) return words`${what}; no episode has a return.`;
  const at = 'description/reward';
  const interval = r.interval
    ? words`${shownInterval(`${at}/interval`, r.interval)} (${shownShare(`${at}/interval/level`, r.interval.level)} interval, for new tasks)`
    : `without an interval: ${r.clusters < 5 ? 'fewer than 5 tasks' : NO_SPREAD}`;
  const success =
    r.successRate === null
      ? ''
      : words` Success rate ${shown(`${at}/successRate`, r.successRate, formatShare(r.successRate))}.`;
  return words`${what}. Mean return ${shown(`${at}/mean`, r.mean)}, ${interval}.${success}`;
}

function trust({ check }: Report): string | Html {
  const [first] = check.findings;
  if (!first) return 'The checks of the logs found nothing.';
  const counts = (['errors', 'warnings', 'notes'] as const)
    .filter((of) => check[of] > 0)
    .map((of) => shownCounted(`check/${of}`, check[of], of.slice(0, -1)));
  return words`The checks of the logs found ${joined(counts, ', ')}${check.findings.length > 1 ? '; the first' : ''}: ${citedBare('check/findings/0/message', first.message)}.`;
}

/** What is marked: actions by their contrast within tasks, turns by the critic, which may fail its checks alone. */
function critic({ credit: c, creditRefused }: Report): (string | Html)[] {
  if (!c) return [refusal(creditRefused)];
  const loud = c.warnings.flatMap((w, i) =>
    isLoud(w) ? [citedBare(`credit/warnings/${i}/message`, w.message)] : [],
  );
  const turns =
    loud.length > 0
      ? words`Turns: none is called helpful or harmful, as ${joined(loud, '; ')}.`
      : words`Turns: the critic beats a constant (R² ${shown('credit/heldOut/r2', c.heldOut.r2)} on tasks it did not see).`;
  return [...(c.actions.length > 0 ? [words`Actions: ${marked(c)}`] : []), turns];
}

/** Where no candidate is named the question is answered too. */
const deployment = ({ targets }: Report): Html[] =>
  targets.length > 0
    ? []
    : [
        words`Deployment: no candidate policy was judged. ${html('<code>turnwise report --target FILE</code>')} names one.`,
      ];

/** Why there is no critic, in a sentence. */
export const refusal = (reason: string | null): Html =>
  words`No turn is valued: ${reason === null ? 'no critic was fitted' : citedBare('creditRefused', reason.replace(/^critic: /, ''))}.`;

/** Which actions are marked, of how many that could be compared within a task. */
export function marked(c: CriticReport): Html {
  const looked = c.actions.filter((a) => a.contrast.mean !== null).length;
  if (looked === 0) return words`none can be compared with the others within a task.`;
  const names = (mark: 'helpful' | 'harmful') =>
    c.actions.flatMap((a, i) =>
      actionMark(c, a) === mark ? [cited(`credit/actions/${i}/action`, a.action)] : [],
    );
  const some = (mark: 'helpful' | 'harmful', of: Html[]) =>
    of.length === 0 ? `none is clearly ${mark}` : words`${mark}: ${first(of, 3)}`;
  return words`of ${String(looked)} compared within tasks, ${some('helpful', names('helpful'))}; ${some('harmful', names('harmful').reverse())}.`;
}

const first = (names: readonly Html[], n: number): Html =>
  words`${joined(names.slice(0, n), ' · ')}${names.length > n ? ' and others' : ''}`;
