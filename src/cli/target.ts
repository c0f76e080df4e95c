import { existsSync, readFileSync } from 'node:fs';
import { audit } from '../audit/audit.ts';
import { auditWithoutBehaviour } from '../audit/without-behaviour.ts';
import { readPolicyFile } from '../policy/read-policy-file.ts';
import type { Audit } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { failure } from '../schema/error.ts';
import { TrainedOn } from '../schema/trained-on.ts';
import { openStore, type Store } from '../store/store.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../weights/from-policy-file.ts';
import { logRatiosFromScores, unknownTarget } from '../weights/from-scores.ts';
import { loggedMeasures } from '../weights/require-behaviour.ts';
import { readSources, scoredPolicies } from '../weights/scores.ts';
import { withTokenLogprobs } from '../weights/token-sums.ts';
import { text } from './arguments.ts';
import { type Option, seedOption, storeOption, type Values } from './command.ts';

/** Flags of the commands that judge a target policy. */
export const targetOptions: Readonly<Record<string, Option>> = {
  store: storeOption,
  target: {
    type: 'string',
    value: 'NAME|FILE',
    required: true,
    help: 'a policy with recorded scores, or a policy file',
  },
  require: {
    type: 'string',
    value: 'VERDICT',
    default: 'supported',
    help: 'exit 3 below this verdict: supported or weak',
  },
  'trained-on': {
    type: 'string',
    value: 'none|unknown|FILE',
    help: 'what the target was trained on, instead of what it says itself; FILE: JSON {"sources": […], "tasks": […]}',
  },
  range: {
    type: 'string',
    value: 'LO,HI',
    help: 'limits of the return, for the bounds; absent: those of the logs',
  },
  seed: { ...seedOption, help: 'seed of everything random (nothing here is, so far)' },
};

/** Audits the target that the flags name. The logs are looked at first, whatever the target. */
export async function auditTarget(values: Values): Promise<Audit> {
  requiredVerdict(values);
  const config: Partial<AuditConfig> = { range: rangeOf(values) };
  const trainedOn = trainedOnOf(values);
  const target = text(values, 'target')!;
  const store = await openStore(text(values, 'store')!, { mode: 'read' });
  try {
    const t = await withTokenLogprobs(store, await loadTrajectories(store));
    const measures = loggedMeasures(t).map((m) => m.measure);
    if (measures.length === 0) return auditWithoutBehaviour(t, target, config);
    if (!(await isFile(store, target)))
      return audit(await logRatiosFromScores(store, t, target, trainedOn), config);
    const file = readPolicyFile(target);
    if (!measures.includes('log_propensity'))
      return auditWithoutBehaviour(t, file.policy, config, 'log_propensity');
    const policy = trainedOn === undefined ? file : { ...file, trained_on: trainedOn };
    return audit(logRatiosFromPolicyFile(t, policy, await readSources(store)), config);
  } finally {
    store.close();
  }
}

/** Exit code: 0 where the verdict is at least the required one, else 3. */
export function exitCodeOf({ verdict }: Audit, values: Values): 0 | 3 {
  return verdict === 'supported' || (verdict === 'weak' && requiredVerdict(values) === 'weak') ? 0 : 3;
}

/** A recorded name first, then a file; anything else is unknown. */
async function isFile(store: Store, target: string): Promise<boolean> {
  const recorded = await scoredPolicies(store);
  if (recorded.includes(target)) return false;
  if (existsSync(target)) return true;
  throw unknownTarget(target, recorded);
}

function requiredVerdict(values: Values): 'supported' | 'weak' {
  const required = text(values, 'require');
  if (required === 'supported' || required === 'weak') return required;
  throw failure({
    subject: '--require',
    wrong: 'is no verdict',
    got: `"${required}"`,
    expected: 'supported or weak',
    exitCode: 2,
  });
}

function rangeOf(values: Values): [number, number] | null {
  const given = text(values, 'range');
  if (given === undefined) return null;
  const [lo, hi, ...more] = given.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (lo !== undefined && hi !== undefined && more.length === 0 && lo < hi && Number.isFinite(hi - lo))
    return [lo, hi];
  throw failure({
    subject: '--range',
    wrong: 'is not a range',
    got: `"${given}"`,
    expected: 'LO,HI with LO below HI, for instance 0,1',
    exitCode: 2,
  });
}

function trainedOnOf(values: Values): TrainedOn | undefined {
  const given = text(values, 'trained-on');
  if (given === undefined || given === 'none' || given === 'unknown') return given;
  const wrong = (what: string, cause?: unknown) =>
    failure({
      subject: `--trained-on ${given}`,
      wrong: what,
      expected: 'none, unknown or a JSON file {"sources": […], "tasks": […]}',
      exitCode: 2,
      cause,
    });
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(given, 'utf8'));
  } catch (cause) {
    throw wrong(cause instanceof SyntaxError ? `is not JSON: ${cause.message}` : 'cannot be read', cause);
  }
  const parsed = TrainedOn.safeParse(value);
  if (!parsed.success) throw wrong(parsed.error.issues.map((issue) => issue.message).join('; '));
  return parsed.data;
}
