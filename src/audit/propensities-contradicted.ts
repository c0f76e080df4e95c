import { contradiction, type PropensityFinding } from '../diagnostics/propensity-evidence.ts';
import type { Reason } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { countWords } from '../weights/words.ts';
import type { Evidence } from './reasons.ts';

/** Logged actions that the logged propensities do not allow; those of a model are its own matter. */
export function propensitiesContradicted(
  { ratios, propensities, actionClasses }: Evidence,
  { propensityAlpha }: AuditConfig,
): Reason[] {
  if (propensities === undefined || ratios.propensities === 'estimated') return [];
  const found = contradiction(propensities, actionClasses, propensityAlpha);
  if (found === null) return [];
  return [
    {
      code: 'propensities-contradicted',
      verdict: 'refused',
      message: `${inWords(found)}; right propensities would do so with a chance below 1 in ${chance(found.strength)}. They were logged wrongly, or episodes were left out for how they went`,
      value: found.strength,
      threshold: found.limit,
    },
  ];
}

function inWords({ cell, action, turns, share, logged, mean }: PropensityFinding): string {
  const n = countWords(turns);
  return action === null
    ? `the target’s ratio averages ${mean.toFixed(2)} over the ${n} turns ${cell}, where it cannot exceed 1`
    : `${action} was taken in ${percent(share)} of the ${n} turns ${cell}, and the propensities logged where it was taken say ${percent(logged)}`;
}

const percent = (x: number): string => `${(100 * x).toPrecision(3)} %`;
const chance = (strength: number): string =>
  strength > 9 ? 'a billion' : countWords(Math.floor(10 ** strength));
