import { compareTargets } from '../audit/compare-targets.ts';
import { isSimulated } from '../inspect/simulated.ts';
import { decimalsFor, formatCount, formatInterval, formatNumber, formatShare } from '../report/format.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { failure } from '../schema/error.ts';
import type { ComparedValue, PolicyBand, PolicyComparison } from '../schema/policy-comparison.ts';
import { refuseIdle, text } from './arguments.ts';
import type { Io, Values } from './command.ts';
import { gated, gateRule } from './gate.ts';
import { openGiven } from './open-store.ts';
import { simulatedText } from './simulated-text.ts';
import { table } from './table.ts';
import { auditOptions, exitCodeOf, requiredVerdict, tellReplicates } from './target.ts';

/** Several targets: each one's verdict, values and differences with intervals that hold together. */
export async function evaluateSeveral(
  targets: readonly string[],
  values: Values,
  config: Partial<AuditConfig>,
  io: Io,
): Promise<0 | 3> {
  if (config.interval !== 'cr1-t')
    throw failure({
      subject: '--interval',
      wrong: 'is for one target: several are compared with simultaneous intervals (max-t)',
      exitCode: 2,
    });
  refuseIdle(
    values,
    'max-weight',
    'is for one target, with --interval hoeffding or empirical-bernstein',
    'Leave it out.',
  );
  requiredVerdict(values);
  const rule = gateRule(values);
  const given = auditOptions(values);
  tellReplicates(config, io);
  const store = await openGiven(values, 'read');
  try {
    const options = { ...given, config: { ...given.config, ...config } };
    const result = await compareTargets(store, targets, options, text(values, 'estimator'));
    if (values.json) io.out(`${JSON.stringify(result, null, 2)}\n`);
    else {
      io.out(`${simulatedText(result.warnings)}${comparisonText(result)}`);
      for (const w of result.warnings) if (!isSimulated(w)) io.err(`warning: ${w.message}\n`);
    }
    if (gated(result, rule, values, io) === 3) return 3;
    return result.policies.some((p) => exitCodeOf(p, values) === 3) ? 3 : 0;
  } finally {
    store.close();
  }
}

/** Verdicts, then the family of intervals; what is refused takes no part. */
export function comparisonText({ policies, band }: PolicyComparison): string {
  const verdicts = table(
    ['policy', 'verdict', 'why'],
    policies.map((p) => [p.policy, p.verdict, p.reasons.map((r) => r.message).join('; ')]),
    [],
    100,
  );
  if (band === null) return `${verdicts}\nNothing to compare: every policy is refused\n`;
  const out = policies.filter((p) => p.verdict === 'refused').length;
  const refused = out > 0 ? `, ${formatCount(out)} refused and left out` : '';
  const weak = new Set(policies.filter((p) => p.verdict === 'weak').map((p) => p.policy));
  return `${verdicts}\n${bandText(band, refused, weak)}`;
}

function bandText(band: PolicyBand, refused: string, weak: ReadonlySet<string>): string {
  const { behaviour, compared, critical, bonferroni, single } = band;
  const level = formatShare(band.level);
  const digits = Math.max(decimalsFor(behaviour.se), ...band.values.map((v) => decimalsFor(v.estimate.se)));
  const rows = band.values.map((v) => [
    nameOf(v),
    formatNumber(v.estimate.value, digits),
    formatNumber(v.estimate.se, digits),
    formatInterval(v.simultaneous, digits),
    formatInterval(v.bonferroni, digits),
    formatInterval(v.estimate.interval, digits),
    weak.has(v.policy) || (v.against !== null && weak.has(v.against)) ? 'coverage not claimed' : '',
  ]);
  const header = ['', band.estimator, 'se', `simultaneous ${level}`, 'Bonferroni', 'this one alone', ''];
  const errors =
    critical === null
      ? '  one task gives no standard error\n'
      : `  ± ${formatNumber(critical)} standard errors (max-t), Bonferroni ${formatNumber(bonferroni)}, one alone ${formatNumber(single)}\n`;
  return [
    `${formatCount(compared)} numbers compared${refused}: their simultaneous intervals hold all at once with ${level}\n`,
    `  same ${formatCount(band.episodes)} episodes of ${formatCount(band.clusters)} tasks for all; logging policy ${formatNumber(behaviour.value, digits)} ${formatInterval(behaviour.interval, digits)}\n`,
    table(header, rows, [1, 2, 3, 4, 5]),
    errors,
    `  ${band.method}\n`,
  ].join('');
}

const nameOf = ({ policy, against }: ComparedValue): string =>
  against === null ? policy : `${policy} − ${against}`;
