import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { repeatedKey } from '../json/repeated-key.ts';
import { failure } from '../schema/error.ts';
import { hasUnsafeKey, inexactInteger, isDeeper } from './json-keys.ts';
import { PolicyFile } from './policy-file.ts';

/** Reads and checks a policy file; every error names the file and the rule. */
export function readPolicyFile(path: string): PolicyFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw failure({
      subject: `policy file ${path}`,
      wrong: code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`,
      exitCode: 2,
      cause,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw failure({
      subject: `policy file ${path}`,
      wrong: `is not JSON: ${(cause as Error).message}`,
      cause,
    });
  }
  const twice = repeatedKey(text);
  if (twice !== null)
    throw failure({
      subject: `policy file ${path}`,
      wrong: `has the key ${JSON.stringify(twice)} twice in one object; only the last would count`,
    });
  const inexact = inexactInteger(text);
  if (inexact !== null)
    throw failure({
      subject: `policy file ${path}`,
      wrong:
        'holds a whole number whose last digits a double does not keep, so that it would match another one',
      got: inexact,
      expected: `what it would be read as, ${BigInt(Number(inexact))}, or at most 2^53`,
    });
  return checkPolicyFile(value, `policy file ${path}`);
}

/** Checks a declared policy that is already in memory. */
export function checkPolicyFile(value: unknown, subject = 'policy'): PolicyFile {
  if (isDeeper(value, DEEPEST))
    throw failure({
      subject,
      wrong: 'is nested too deep',
      got: `more than ${DEEPEST} levels`,
      expected: 'a list of rules, each with `when` and `probabilities`',
    });
  if (hasUnsafeKey(value))
    throw failure({ subject, wrong: 'has a key "__proto__", which no rule may look at' });
  const result = PolicyFile.safeParse(value);
  if (result.success) return { ...result.data, rules: result.data.rules.map(normalised) };
  throw failure({ subject, wrong: result.error.issues.map((issue) => where(issue, value)).join('; ') });
}

/** A policy has 5 levels; what is far deeper is something else, and would end a recursion. */
const DEEPEST = 32;

/** The probabilities divided by their sum, where that is off 1 by more than doubles round. */
function normalised(rule: PolicyFile['rules'][number]): PolicyFile['rules'][number] {
  const classes = Object.entries(rule.probabilities);
  const total = classes.reduce((sum, [, p]) => sum + p, 0);
  if (Math.abs(total - 1) <= classes.length * Number.EPSILON) return rule;
  return { ...rule, probabilities: Object.fromEntries(classes.map(([name, p]) => [name, p / total])) };
}

const TRAINED_ON = '"none", "unknown" or {"sources": […], "tasks": […]}';

/** "rules[2].probabilities: …", rules counted from 0 as in the file's JSON path. */
function where(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.path[0] === 'trained_on' && issue.code === 'invalid_union')
    return Object.hasOwn(value as object, 'trained_on') && (value as PolicyFile).trained_on !== undefined
      ? `trained_on is not understood: write ${TRAINED_ON}`
      : `trained_on is missing: write ${TRAINED_ON}`;
  const path = issue.path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? String(part) : `.${String(part)}`))
    .join('');
  if (path === '' && issue.code === 'invalid_type')
    return 'is no policy, expected an object with policy, trained_on and rules';
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return `${path} is missing, expected ${issue.expected}`;
  if (path === 'rules' && issue.code === 'too_small') return 'rules is empty, expected one rule or more';
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}
