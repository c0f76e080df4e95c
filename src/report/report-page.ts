import type { Report } from '../schema/report.ts';
import { auditSection } from './audit-section.ts';
import { creditSection } from './credit-section.ts';
import { checkSection, describeSection, warningsList } from './describe-section.ts';
import { heading, html, page, paragraph } from './page.ts';

/** The report as one self-contained HTML page. */
export function reportPage(report: Report): string {
  return page(report.title, [
    html(
      '<nav><a href="#logs">Logs</a><a href="#check">Trust</a><a href="#credit">Credit</a>' +
        `${report.targets.length > 0 ? '<a href="#audit">Candidates</a>' : ''}</nav>`,
    ),
    ...describeSection(report.description),
    ...warningsList(report.description.warnings),
    ...checkSection(report.check),
    ...(report.credit
      ? creditSection(report.credit, report.examples)
      : [
          heading(2, 'Which turn helped, which hurt', 'credit'),
          paragraph(report.creditRefused ?? 'No critic was fitted.', 'error'),
        ]),
    ...auditSection(report.targets),
  ]);
}
