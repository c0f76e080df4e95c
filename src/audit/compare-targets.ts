import { simulatedWarnings } from '../inspect/simulated.ts';
import { type StoreFindings, storeFindings } from '../inspect/verdict-findings.ts';
import type { Audit } from '../schema/audit.ts';
import { AuditConfig } from '../schema/audit-config.ts';
import { failure } from '../schema/error.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { ComparedValue, PolicyBand, PolicyComparison } from '../schema/policy-comparison.ts';
import type { Store } from '../store/store.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import { DEFAULT_ESTIMATOR } from '../value/difference.ts';
import { bandEstimator, policyBand } from '../value/policy-band.ts';
import { onCommonEpisodes } from '../weights/common-episodes.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { withTokenLogprobs } from '../weights/token-sums.ts';
import { audit, evaluationConfig } from './audit.ts';
import { type AuditTargetOptions, ratiosOrRefusal } from './audit-target.ts';

/**
 * Several targets by name or file, each audited, those not refused compared on the same episodes. A
 * refused one is listed and takes part in no interval.
 */
export async function compareTargets(
  store: Store,
  targets: readonly string[],
  options: AuditTargetOptions = {},
  estimator: string = DEFAULT_ESTIMATOR,
): Promise<PolicyComparison> {
  bandEstimator(estimator);
  const t = await withTokenLogprobs(store, await loadTrajectories(store, { policies: options.policies }));
  const found: (LogRatios | Audit)[] = [];
  for (const target of targets) found.push(await ratiosOrRefusal(store, t, target, options));
  const compared = compareRatios(found, options.config, estimator, await storeFindings(store));
  return { ...compared, warnings: [...compared.warnings, ...(await simulatedWarnings(store))] };
}

/** The same of log-ratios of the same loaded logs, beside audits that refuse others. */
export function compareRatios(
  found: readonly (LogRatios | Audit)[],
  config: Partial<AuditConfig> = {},
  estimator: string = DEFAULT_ESTIMATOR,
  findings?: StoreFindings,
): PolicyComparison {
  const settings = parseConfig(AuditConfig, config, 'audit settings');
  const twice = found.find((x, i) => found.findIndex((y) => y.target === x.target) < i);
  if (twice !== undefined)
    throw failure({
      subject: `target "${twice.target}"`,
      wrong: 'is named twice',
      fix: 'Leave one out, or give the policy files different names in "policy".',
      exitCode: 2,
    });
  const audits = found.map((x) => ('verdict' in x ? x : audit(x, settings, { findings })));
  let standing = found.filter((x): x is LogRatios => !('verdict' in x) && verdictOf(x) !== 'refused');
  const whole = standing;
  // Episodes that one target was trained on are left out for all, so the verdicts are those of what is left.
  for (let before = -1; before !== standing.length; ) {
    before = standing.length;
    const common = onCommonEpisodes(standing);
    standing = standing.filter((ratios, k) => {
      if (common[k]!.trajectories.index.length < ratios.trajectories.index.length)
        audits[found.indexOf(ratios)] = audit(common[k]!, settings, { findings });
      return verdictOf(ratios) !== 'refused';
    });
  }
  const weak = new Set(audits.filter((a) => a.verdict === 'weak').map((a) => a.target));
  const band =
    standing.length === 0
      ? null
      : labelled(policyBand(standing, evaluationConfig(settings), bandEstimator(estimator)), weak);
  const messages = new Set<string>();
  const warnings = [...audits.flatMap((a) => a.warnings), ...(band?.warnings ?? [])].filter(
    ({ message }) => !messages.has(message) && messages.add(message),
  );
  if (standing.length < whole.length)
    warnings.push({
      code: 'common-episodes',
      message: 'on the episodes that none of the compared policies was trained on, some of them are refused',
    });
  return {
    policies: audits.map((a) => ({ policy: a.target, verdict: a.verdict, reasons: a.reasons })),
    band,
    warnings,
  };

  function verdictOf(ratios: LogRatios): Audit['verdict'] {
    return audits[found.indexOf(ratios)]!.verdict;
  }
}

/** Where a weakly supported policy takes part no interval claims its coverage. */
function labelled(band: PolicyBand, weak: ReadonlySet<string>): PolicyBand {
  const label = (v: ComparedValue): ComparedValue => {
    const own = v.estimate.support?.verdict === 'weak';
    if (!own && !weak.has(v.policy) && !(v.against !== null && weak.has(v.against))) return v;
    const of = <I extends { method: string } | null>(interval: I): I =>
      interval && { ...interval, method: `${interval.method}; weak support, coverage not claimed` };
    return {
      ...v,
      estimate: { ...v.estimate, interval: of(v.estimate.interval) },
      simultaneous: of(v.simultaneous),
      bonferroni: of(v.bonferroni),
    };
  };
  return { ...band, values: band.values.map(label) };
}
