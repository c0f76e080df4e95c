import { readFileSync } from 'node:fs';
import { type AuditTargetOptions, auditTarget } from '../audit/audit-target.ts';
import type { Audit, Verdict } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { failure } from '../schema/error.ts';
import { TrainedOn } from '../schema/trained-on.ts';
import { text, whole } from './arguments.ts';
import { type Io, type Option, seedOption, storeOptions, type Values } from './command.ts';
import { openGiven } from './open-store.ts';

/** Flags of the commands that judge a target policy. */
export const targetOptions: Readonly<Record<string, Option>> = {
  ...storeOptions,
  target: {
    type: 'string',
    value: 'NAME|FILE',
    required: true,
    help: 'a policy with recorded scores, or a policy file',
    several: 'Audit them one by one, or compare them: "turnwise evaluate --target A --target B".',
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
  'estimate-propensities': {
    type: 'boolean',
    help: 'estimate the behaviour’s propensities of the action classes from the logs; at most weak',
  },
  behaviour: {
    type: 'string',
    value: 'FILE',
    help: 'the behaviour as a policy file, for diagnostics that need all its probabilities',
  },
  policy: {
    type: 'string',
    value: 'NAME',
    multiple: true,
    help: 'only the logs of this behaviour policy; absent: of all',
  },
  seed: { ...seedOption, help: 'seed of everything random: the folds of --estimate-propensities' },
};

/** On a terminal, before many replicates are drawn: what takes long, and how much of it there is. */
export function tellReplicates({ replicates }: Partial<AuditConfig>, io: Io): void {
  if (replicates !== undefined)
    io.progress(`bootstrap over tasks: ${replicates.toLocaleString('en')} replicates`);
}

/** Audits the target that the flags name. */
export async function auditNamed(values: Values, config: Partial<AuditConfig> = {}): Promise<Audit> {
  requiredVerdict(values);
  const given = auditOptions(values);
  const options = { ...given, config: { ...given.config, ...config } };
  const store = await openGiven(values, 'read');
  try {
    return await auditTarget(store, text(values, 'target')!, options);
  } finally {
    store.close();
  }
}

/** What the flags say of the target, the behaviour and the limits. */
export function auditOptions(values: Values): AuditTargetOptions {
  return {
    trainedOn: trainedOnOf(values),
    config: { range: rangeOf(values), seed: whole(values, 'seed') ?? 0 },
    estimatePropensities: values['estimate-propensities'] === true,
    behaviour: text(values, 'behaviour'),
    policies: values.policy as readonly string[] | undefined,
    details: values.details === true,
  };
}

/** Exit code: 0 where the verdict is at least the required one, else 3. */
export function exitCodeOf({ verdict }: { readonly verdict: Verdict }, values: Values): 0 | 3 {
  return verdict === 'supported' || (verdict === 'weak' && requiredVerdict(values) === 'weak') ? 0 : 3;
}

/** The verdict that `--require` asks for. */
export function requiredVerdict(values: Values): 'supported' | 'weak' {
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
