import type { Report } from '../schema/report.ts';
import { forest } from './forest.ts';
import { decimalsFor, formatSigned } from './format.ts';
import { HEADLINE, headline } from './headline.ts';
import { figure, type Html, heading, html, paragraph, table } from './page.ts';
import { cited, citedBare, shown, shownInterval, shownShare, words } from './shown-number.ts';

type Target = Report['targets'][number];

/** The first question: may a candidate be deployed? Differences from the logging policy, the verdict in words beside them. */
export function decisionSection(targets: readonly Target[]): Html[] {
  if (targets.length === 0) return [];
  const known = targets.some((t) => t.exact !== null);
  const k = targets.findIndex((t) => t.audit.evaluation);
  const behaviour = targets[k]?.audit.evaluation?.behaviour;
  const level = targets[k]?.audit.evaluation?.config.level;
  const numeric = ['minus logging policy', 'estimate', 'interval', 'exact value'];
  return [
    heading(2, 'May a candidate policy be deployed?', 'audit'),
    html(`<ul class="answers">${targets.map((t, i) => `<li>${answer(t, i).html}</li>`).join('')}</ul>`),
    figure(
      forest(
        targets.map(({ audit: a }) => {
          const d = a.verdict === 'refused' ? null : (a.evaluation?.difference ?? null);
          return {
            label: a.target,
            verdict: a.verdict,
            value: d?.value ?? null,
            lo: d?.interval?.lo ?? null,
            hi: d?.interval?.hi ?? null,
          };
        }),
      ),
      words`Candidate minus logging policy, on the same episodes${level === undefined ? '' : words`, with the paired ${shownShare(`targets/${k}/audit/evaluation/config/level`, level)} interval`}. Right of the line at 0 the candidate is better. Filled dot: supported. Hollow dot and dashed line: weak, the coverage of the interval is not claimed. No dot: refused.`,
    ),
    table(
      [
        'policy',
        'verdict',
        'minus logging policy',
        'estimate',
        'interval',
        ...(known ? ['exact value'] : []),
      ],
      targets.map(({ audit: a, exact }, i) => {
        const at = `targets/${i}/audit/evaluation`;
        const refused = a.verdict === 'refused';
        const e = refused ? null : headline(a);
        const d = refused ? null : a.evaluation?.difference;
        const place = a.evaluation?.estimates.findIndex((x) => x.estimator === HEADLINE) ?? -1;
        const digits = decimalsFor(d?.se);
        const bounds = a.evaluation?.bounds;
        return [
          cited(`targets/${i}/audit/target`, a.target),
          verdictMark(a.verdict),
          d
            ? words`${shown(`${at}/difference/value`, d.value, formatSigned(d.value ?? 0, digits))} ${shownInterval(`${at}/difference/interval`, d.interval, digits)}`
            : '–',
          shown(`${at}/estimates/${place}/value`, e?.value),
          e?.interval
            ? shownInterval(`${at}/estimates/${place}/interval`, e.interval)
            : bounds
              ? words`${shownInterval(`${at}/bounds`, bounds)} (bounds)`
              : '–',
          ...(known ? [shown(`targets/${i}/exact`, exact)] : []),
        ];
      }),
      numeric,
      { stack: true },
    ),
    ...(behaviour
      ? [
          paragraph(
            words`The logging policy itself: ${shown(`targets/${k}/audit/evaluation/behaviour/value`, behaviour.value)}${behaviour.interval ? words`, ${shownInterval(`targets/${k}/audit/evaluation/behaviour/interval`, behaviour.interval)}` : ''}. Estimates are ${HEADLINE}. Reasons, coverage by turn and every other estimator stand under “How far the logs cover the candidates”.`,
            'note',
          ),
        ]
      : []),
  ];
}

const MARKS = { supported: '✓ supported', weak: '◐ weak', refused: '✕ refused' } as const;

/** The verdict as a word with a sign that needs no colour. */
export const verdictMark = (v: keyof typeof MARKS): Html => html(`<span class="${v}">${MARKS[v]}</span>`);

/** What the verdict and the difference say together, in one sentence. */
function answer({ audit: a }: Target, i: number): Html {
  const head = words`${html('<strong>')}${cited(`targets/${i}/audit/target`, a.target)}${html('</strong>')}: ${verdictMark(a.verdict)}. `;
  const [first] = a.reasons;
  const why = first ? words`: ${citedBare(`targets/${i}/audit/reasons/0/message`, first.message)}` : '';
  if (a.verdict === 'refused') return words`${head}These logs do not say what it is worth${why}.`;
  const d = a.evaluation?.difference;
  const at = `targets/${i}/audit/evaluation/difference`;
  const limits = d?.interval;
  if (!d || d.value === null || !limits)
    return words`${head}Its difference from the logging policy has no interval here${why}.`;
  const digits = decimalsFor(d.se);
  const size = words`${shown(`${at}/value`, d.value, formatSigned(d.value, digits))} ${shownInterval(`${at}/interval`, limits, digits)}`;
  const found =
    limits.lo > 0
      ? 'Better than the logging policy'
      : limits.hi < 0
        ? 'Worse than the logging policy'
        : 'Not told apart from the logging policy';
  if (a.verdict === 'weak')
    return words`${head}The logs cover it only in part${why}. As far as they go: ${found.toLowerCase()}, ${size}.`;
  return words`${head}${found}: ${size}.`;
}
