import { greatest, least } from '../math/extremes.ts';
import { formatCount, formatNumber, formatShare } from '../report/format.ts';
import type { Calibration } from '../schema/calibration.ts';
import type { DiagnosticStage, Diagnostics } from '../schema/diagnostics.ts';
import type { TokenGroup, TokenRatios } from '../schema/token-ratios.ts';
import { table } from './table.ts';

const SHOWN = 12;

/** Coverage in detail, compact: the whole of it is in the JSON. */
export function diagnosticsText(d: Diagnostics | undefined): string {
  if (d === undefined) return 'In detail\n  nothing: no episode is left to look at\n';
  const parts = [findingsText(d), stagesText(d.stages), truncationText(d), realisticText(d)];
  if (d.calibration !== null) parts.push(calibrationText(d, d.calibration));
  if (d.features !== null && d.features.amplification !== null) {
    const f = d.features;
    parts.push(
      `Features of a linear critic (${formatCount(f.columns)} columns)\n  φᵀΛ⁻¹φ under the target ${formatNumber(f.underTarget, 4)}, in the logs ${formatNumber(f.underBehaviour, 4)}; errors amplified up to ${formatNumber(f.amplification, 1)} times\n`,
    );
  }
  if (d.tokens !== null) parts.push(tokensText(d.tokens));
  return parts.filter((part) => part !== '').join('\n');
}

function findingsText({ findings, behaviour }: Diagnostics): string {
  const lines = findings.map((f) => `  ${f.message}\n`);
  if (behaviour.reason !== null) lines.push(`  not all can be said: ${behaviour.reason}\n`);
  return `In detail\n${lines.length > 0 ? lines.join('') : '  nothing stands out\n'}`;
}

function stagesText(stages: readonly DiagnosticStage[]): string {
  const step = Math.max(1, Math.ceil(stages.length / SHOWN));
  const below = (s: DiagnosticStage, alpha: number): string =>
    formatShare(s.positivity?.below.find((x) => x.alpha === alpha)?.share);
  const worst = (s: DiagnosticStage, of: 'smdRaw' | 'smdOverlap'): string =>
    formatNumber(
      s.balance.reduce<number | null>((most, b) => Math.max(most ?? 0, Math.abs(b[of] ?? 0)), null),
      2,
    );
  const rows = stages
    .filter((_, i) => i % step === 0)
    .map((s) => [
      String(s.turn),
      formatCount(s.followers),
      formatNumber(s.kishDeff, 1),
      below(s, 0.01),
      below(s, 0.05),
      below(s, 0.1),
      formatNumber(s.overlap.length > 0 ? least(s.overlap.map((o) => o.overlapCoefficient)) : null, 2),
      formatNumber(s.overlap.length > 0 ? greatest(s.overlap.map((o) => o.auc)) : null, 2),
      worst(s, 'smdRaw'),
      worst(s, 'smdOverlap'),
    ]);
  const header = [
    'turn',
    'followers',
    'n/ESS',
    'propensity < .01',
    '< .05',
    '< .1',
    'least overlap',
    'largest AUC',
    'largest SMD',
    'weighted',
  ];
  return `Positivity and balance by turn\n${table(header, rows, [...header.keys()])}`;
}

function truncationText({ truncation }: Diagnostics): string {
  const rows = truncation.points.map((p) => [
    p.quantileOfPositive === null ? '–' : formatShare(p.quantileOfPositive),
    formatNumber(p.cap, 2),
    formatCount(p.truncated),
    `${formatNumber(p.ipw)} ± ${formatNumber(p.ipwSe)}`,
    `${formatNumber(p.hajek)} ± ${formatNumber(p.hajekSe)}`,
    formatNumber(p.ess, 1),
    formatNumber(p.meanWeight),
  ]);
  if (rows.length === 0) return '';
  const header = ['quantile', 'cap', 'capped', 'IS ± SE', 'WIS ± SE', 'ESS', 'mean weight'];
  return `Value with capped weights\n${table(header, rows, [...header.keys()])}`;
}

function realisticText({ realistic, unsupportedBounds: u }: Diagnostics): string {
  if (realistic === null) return '';
  const rows = realistic.map((r) => [
    formatNumber(r.alpha, 2),
    formatNumber(r.meanSize, 2),
    formatShare(r.excluded),
    `${formatNumber(r.value)} ± ${formatNumber(r.se)}`,
    formatNumber(r.ess, 1),
  ]);
  const header = ['propensity ≥', 'classes', 'of the target outside', 'value within ± SE', 'ESS'];
  const bounds =
    u === null || u.mass === 0
      ? ''
      : `  leaves the logs ${formatNumber(u.mass, 4)} times per episode: value in [${formatNumber(u.lo)}, ${formatNumber(u.hi)}], before sampling error\n`;
  return `The target within realistic actions\n${table(header, rows, [...header.keys()])}${bounds}`;
}

function calibrationText({ propensities }: Diagnostics, c: Calibration): string {
  const rows = c.classes.map((x) => [
    x.actionClass,
    formatCount(x.taken),
    formatShare(x.observed),
    formatShare(x.meanPredicted),
    formatNumber(x.error, 3),
  ]);
  const header = ['class', 'taken', 'observed', 'predicted', 'calibration error'];
  return `Propensities (${propensities}): log-loss ${formatNumber(c.logLoss)} against ${formatNumber(c.logLossConstant)} of frequencies, Brier ${formatNumber(c.brier)} against ${formatNumber(c.brierConstant)}\n${table(header, rows, [1, 2, 3, 4])}`;
}

function tokensText(x: TokenRatios): string {
  const row = (g: TokenGroup): string[] => [
    g.group,
    formatCount(g.episodes),
    formatCount(g.tokens),
    `${formatNumber(g.logProduct.q05, 2)}  ${formatNumber(g.logProduct.q50, 2)}  ${formatNumber(g.logProduct.q95, 2)}`,
    `${formatNumber(g.logGeometricMean.q05, 4)}  ${formatNumber(g.logGeometricMean.q50, 4)}  ${formatNumber(g.logGeometricMean.q95, 4)}`,
  ];
  const header = ['episodes by', 'episodes', 'tokens', 'log product, 5 50 95 %', 'per token, 5 50 95 %'];
  const rows = [x.all, ...x.byLength, ...x.byLag].map(row);
  const aa =
    x.aa === null
      ? ''
      : `  A/A: ${x.aa.finding ?? 'the behaviour re-scored gives its own log-probabilities'}${x.aa.causes.length > 0 ? ` (${x.aa.causes.join('; ')})` : ''}\n`;
  return `Token by token: mean |log ρ| ${formatNumber(x.meanAbs, 4)}, ${formatShare(x.beyond)} of ${formatCount(x.tokens)} tokens beyond 0.1; the geometric mean is a drift filter, never a weight\n${table(header, rows, [1, 2, 3, 4])}${aa}`;
}
