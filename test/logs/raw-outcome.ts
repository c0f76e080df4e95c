/*
 * A second reading of "did this tool call fail?", written from the table of words in the documentation and
 * not from the program. What the words leave open ("…") is left out: a log on which that matters shows up
 * as a difference between the two readers.
 */
export type Outcome = 'failed' | 'worked' | 'unknown';

type Json = Readonly<Record<string, unknown>>;

/** What the words say of an answer's text; `unknown` where no row of the table says anything. */
export function outcomeOfText(answer: string, depth = 0): Outcome {
  const text = answer.trim();
  const [first = ''] = text.split('\n');
  const last = text.split('\n').at(-1) ?? '';
  if (outcomeOfExit([first]) !== 'unknown') return outcomeOfExit([first]);
  if (startsWithError(first) || /^\[?Your proposed edit has introduced new syntax error/.test(first))
    return 'failed';
  if (/^([\w$]+\.)*\w*(Error|Exception)(:|$)/.test(first)) return 'failed';
  if (first.startsWith('Traceback (most recent call last):')) return 'failed';
  if (text.includes('\nTraceback (most recent call last):') && /^[\w.]+(Error|Exception)\b/.test(last))
    return 'failed';
  if (/^(Unknown (action|tool)|No such tool|Tool execution error:|Failed to |Tool call failed)/.test(first))
    return 'failed';
  if (/^make: \*\*\* .* Error \d+$/.test(last)) return 'failed';
  if (first === text && /: (No such file or directory|command not found)$/.test(text)) return 'failed';
  const value = parsed(text);
  const said = value === undefined ? 'unknown' : outcomeOfValue(value, depth);
  return said === 'unknown' ? outcomeOfExit([last]) : said;
}

function startsWithError(line: string): boolean {
  if (line.slice(0, 5).toLowerCase() !== 'error') return false;
  const rest = line.slice(5).trimStart();
  return rest === '' || /^([:–—]|- |executing|calling|running|code \d)/i.test(rest);
}

function outcomeOfExit(lines: readonly string[]): Outcome {
  for (const line of lines) {
    const code =
      /^\[?(?:the )?(?:command )?(?:finished |exited |completed )?(?:with )?exit (?:code|status)(?: is)?:? ?(-?\d+)[\].]*$/i.exec(
        line.trim(),
      )?.[1] ??
      /<returncode>(-?\d+)<\/returncode>|^exitcode: (-?\d+) \(execution \w+\)$/
        .exec(line)
        ?.slice(1)
        .find(Boolean);
    if (code !== undefined) return Number(code) === 0 ? 'worked' : 'failed';
  }
  return 'unknown';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function outcomeOfValue(value: unknown, depth: number): Outcome {
  if (depth > 2) return 'unknown';
  if (typeof value === 'string') return outcomeOfText(value, depth + 1);
  if (Array.isArray(value)) {
    const all = value.map((element) => outcomeOfValue(element, depth + 1));
    return all.length > 0 && all.every((outcome) => outcome === 'failed') ? 'failed' : 'unknown';
  }
  if (typeof value !== 'object' || value === null) return 'unknown';
  const fields = value as Json;
  const said = [
    'error' in fields ? (isSet(fields.error) ? 'failed' : 'worked') : 'unknown',
    typeof fields.success === 'boolean' ? (fields.success ? 'worked' : 'failed') : 'unknown',
    typeof fields.ok === 'boolean' ? (fields.ok ? 'worked' : 'failed') : 'unknown',
    typeof fields.isError === 'boolean' ? (fields.isError ? 'failed' : 'worked') : 'unknown',
    typeof fields.is_error === 'boolean' ? (fields.is_error ? 'failed' : 'worked') : 'unknown',
    fields.status === 'error'
      ? 'failed'
      : ['success', 'ok'].includes(String(fields.status))
        ? 'worked'
        : 'unknown',
    ...['exit_code', 'exitCode', 'returncode', 'return_code'].map((key) =>
      typeof fields[key] === 'number' ? (fields[key] === 0 ? 'worked' : 'failed') : 'unknown',
    ),
  ];
  if (said.includes('failed')) return 'failed';
  if (said.includes('worked')) return 'worked';
  return fields.type === 'text' && typeof fields.text === 'string'
    ? outcomeOfText(fields.text, depth + 1)
    : 'unknown';
}

function isSet(error: unknown): boolean {
  if (typeof error === 'string') return !['', 'none', 'null', 'false'].includes(error.trim().toLowerCase());
  if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0;
  return Boolean(error);
}
