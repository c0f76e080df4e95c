import { isSimulated } from '../inspect/simulated.ts';
import type { Report } from '../schema/report.ts';
import { auditSection } from './audit-section.ts';
import { comparisonSections } from './compare-section.ts';
import { creditSection } from './credit-section.ts';
import { decisionSection } from './decision-section.ts';
import { checkSection, describeSection } from './describe-section.ts';
import { type Html, heading, html, page, paragraph } from './page.ts';
import { cited, words } from './shown-number.ts';
import { refusal, summarySection } from './summary-section.ts';

/** The report as one self-contained HTML page. */
export function reportPage(report: Report): string {
  const { targets } = report;
  return page(report.title, [
    html(
      `<nav aria-label="Sections">${targets.length > 0 ? '<a href="#audit">Candidates</a>' : ''}` +
        '<a href="#logs">Logs</a><a href="#check">Trust</a>' +
        `${report.comparisons.length > 0 ? '<a href="#compare">Policies</a>' : ''}` +
        '<a href="#credit">Turns</a>' +
        `${targets.length > 0 ? '<a href="#coverage">Coverage</a>' : ''}</nav>`,
    ),
    ...simulated(report),
    ...decisionSection(targets),
    summarySection(report),
    ...describeSection(report.description),
    ...checkSection(report.check),
    ...comparisonSections(report.comparisons),
    ...(report.credit
      ? creditSection(report.credit, report.examples)
      : [
          heading(2, 'Which turns matter, and why', 'credit'),
          paragraph(refusal(report.creditRefused), 'warning'),
        ]),
    ...auditSection(targets),
  ]);
}

/** That the data is simulated, where its records say so or exact values are known. */
function simulated({ description, targets }: Report): Html[] {
  const at = description.warnings.findIndex(isSimulated);
  const said = description.warnings[at]?.message;
  const exact = targets.some((t) => t.exact !== null);
  if (said === undefined && !exact) return [];
  const what = said === undefined ? 'simulated data' : cited(`description/warnings/${at}/message`, said);
  return [
    paragraph(
      words`${what}${exact ? '; the exact values of its policies are known and shown' : ''}.`,
      'simulated',
    ),
  ];
}
