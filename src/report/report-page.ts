import type { Report } from '../schema/report.ts';
import { auditSection } from './audit-section.ts';
import { comparisonSections } from './compare-section.ts';
import { creditSection } from './credit-section.ts';
import { checkSection, describeSection } from './describe-section.ts';
import { heading, html, page, paragraph } from './page.ts';
import { refusal, summarySection } from './summary-section.ts';

/** The report as one self-contained HTML page. */
export function reportPage(report: Report): string {
  return page(report.title, [
    html(
      '<nav><a href="#logs">Logs</a><a href="#check">Trust</a>' +
        `${report.comparisons.length > 0 ? '<a href="#compare">Policies</a>' : ''}` +
        '<a href="#credit">Credit</a>' +
        `${report.targets.length > 0 ? '<a href="#audit">Candidates</a>' : ''}</nav>`,
    ),
    summarySection(report),
    ...describeSection(report.description),
    ...checkSection(report.check),
    ...comparisonSections(report.comparisons),
    ...(report.credit
      ? creditSection(report.credit, report.examples)
      : [
          heading(2, 'Which turn helped, which hurt', 'credit'),
          paragraph(refusal(report.creditRefused), 'warning'),
        ]),
    ...auditSection(report.targets),
  ]);
}
