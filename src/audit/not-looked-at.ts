import { existsSync } from 'node:fs';
import { readPolicyFile } from '../policy/read-policy-file.ts';
import type { Audit } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import type { Store } from '../store/store.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { looksLikePath } from '../weights/from-scores.ts';
import { scoredPolicies } from '../weights/scores.ts';
import { auditWithoutBehaviour } from './without-behaviour.ts';

/** The audit of logs that refuse every target, under the target's own name where it has one. */
export async function notLookedAt(
  store: Store,
  t: Trajectories,
  target: string,
  config: Partial<AuditConfig>,
): Promise<Audit> {
  const recorded = (await scoredPolicies(store)).includes(target);
  const file = !recorded && existsSync(target);
  const audit = auditWithoutBehaviour(t, file ? policyName(target) : target, config);
  if (recorded || file || !looksLikePath(target)) return audit;
  const warnings = audit.warnings.map((w) =>
    w.code === 'target-not-looked-at' ? { ...w, message: `${w.message}; there is no file ${target}` } : w,
  );
  return { ...audit, warnings };
}

/** The file's own name of its policy; the path where it cannot be read, which is not the question here. */
function policyName(path: string): string {
  try {
    return readPolicyFile(path).policy;
  } catch {
    return path;
  }
}
