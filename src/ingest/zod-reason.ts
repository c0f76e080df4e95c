import type { z } from 'zod';

/** What a schema found wrong, on one line, with the column: "turns[2].reward: expected number, received string". */
export function zodReason(error: z.ZodError): string {
  const [first, ...rest] = error.issues.flatMap(deepest);
  const more = rest.length > 0 ? ` (and ${rest.length} more)` : '';
  return `${issueText(first!)}${more}`;
}

/** A union says only that nothing fitted: its closest member says more. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const inner = issue.errors.flat();
  if (inner.every((i) => i.path.length === 0)) return [issue];
  return [{ ...inner[0]!, path: [...issue.path, ...inner[0]!.path] }];
}

function issueText(issue: z.core.$ZodIssue): string {
  const at = columnPath(issue.path);
  const subject = at === '' ? '' : `${at}: `;
  if (issue.code === 'unrecognized_keys')
    return `${subject}unknown column ${issue.keys.map((k) => `"${k}"`).join(', ')}`;
  if (issue.message.endsWith('received undefined')) {
    const expected =
      issue.code === 'invalid_type' && issue.expected !== 'nonoptional' ? `, expected ${issue.expected}` : '';
    return `${subject}is missing${expected}`;
  }
  return `${subject}${issue.message.replace(/^Invalid input: /, '').replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase())}`;
}

export function columnPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path)
    text += typeof key === 'number' ? `[${key}]` : text === '' ? String(key) : `.${String(key)}`;
  return text;
}
