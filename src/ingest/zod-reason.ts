import { z } from 'zod';
import { nearestName } from './nearest-name.ts';

/** Problems of one record that are told; a bad array may have as many as it has values. */
const TOLD = 8;

/**
 * What a schema found wrong with a record, on one line, each with its column:
 * "turns[2].reward: expected number, received string; unknown column "metadata" (did you mean "meta"?)".
 */
export function zodReason(error: z.ZodError, schema: z.ZodType): string {
  const issues = error.issues.flatMap(deepest).map((issue) => issueText(issue, schema));
  const more = issues.length > TOLD ? `; and ${issues.length - TOLD} more` : '';
  return `${issues.slice(0, TOLD).join('; ')}${more}`;
}

/** A union says only that nothing fitted: its closest member says more. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const inner = issue.errors.flat();
  if (inner.every((i) => i.path.length === 0)) return [issue];
  return [{ ...inner[0]!, path: [...issue.path, ...inner[0]!.path] }];
}

function issueText(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  const at = columnPath(issue.path);
  const subject = at === '' ? '' : `${at}: `;
  if (issue.code === 'unrecognized_keys')
    return `${subject}unknown column ${issue.keys.map((k) => unknownName(k, columnsAt(schema, issue.path))).join(', ')}`;
  if (issue.code === 'invalid_format' && issue.format === 'datetime')
    return `${subject}is no ISO 8601 time, expected as 2026-01-31T09:30:00Z or with an offset like +01:00`;
  if (issue.message.endsWith('received undefined')) {
    const expected =
      issue.code === 'invalid_type' && issue.expected !== 'nonoptional' ? `, expected ${issue.expected}` : '';
    return `${subject}is missing${expected}`;
  }
  return `${subject}${issue.message.replace(/^Invalid input: /, '').replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase())}`;
}

function unknownName(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? `"${name}"` : `"${name}" (did you mean "${near}"?)`;
}

/** The columns that a schema knows at a path. */
function columnsAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = bare(schema);
  for (const key of path) {
    if (at instanceof z.ZodArray) at = bare(at.element);
    else if (at instanceof z.ZodRecord) at = bare(at.valueType);
    else if (at instanceof z.ZodObject) at = bare(at.shape[String(key)]);
    else return [];
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** Without what says only that it may be absent. */
function bare(schema: unknown): unknown {
  let at = schema;
  while (at instanceof z.ZodDefault || at instanceof z.ZodNullable || at instanceof z.ZodOptional)
    at = at.unwrap();
  return at;
}

export function columnPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path)
    text += typeof key === 'number' ? `[${key}]` : text === '' ? String(key) : `.${String(key)}`;
  return text;
}
