import { type Fields, field } from './fields.ts';
import { type Printed, printedElements, printedFields, printedValue } from './printed-value.ts';

/**
 * Whether a tool call failed: the one rule of every format. true: it failed, false: it worked, null: nothing
 * says. The first row that says something decides.
 *
 * | what the log has | says | why, and what it leaves open |
 * |---|---|---|
 * | is_error, isError: true, false | failed, worked | the log's own word outranks the text; "true" and "false" as text too |
 * | error beside the result: set (text, object, list, number) | failed | null says nothing, "" and false say that it worked |
 * | status beside the result: error, failed; success, ok, completed | failed; worked | LangChain's ToolMessage; no other word says anything |
 * | text: `Error`, alone or followed by `:`, a dash, or executing, calling, code N, … | failed | not "Error rate is 0.1 %", "Errors: none", "error-free", nor a line of a log, "[ERROR] …" |
 * | text: `ValueError: …`, `Exception`, `java.lang.X…Exception: …` at its start | failed | the name of an exception stands first in what runtimes print |
 * | text: a traceback of Python at its start, or that ends it | failed | what follows a traceback shows that the program went on |
 * | text: `Unknown action …`, `Unknown tool …`, `X is not a valid tool`, `No such tool` | failed | what harnesses answer to a call of no tool (tau-bench, LangChain) |
 * | text: `Tool execution error: …`, `Failed to …`, `Tool call failed`, `… timed out` | failed | only with those first words: "mean squared error: 0.1" says nothing |
 * | text: `Your proposed edit has introduced new syntax error…`, in brackets or not | failed | what SWE-agent and OpenHands answer to an edit that was not made |
 * | text: `<error>…</error>`, `<tool_use_error>…` around it | failed | |
 * | text: one line `cat: x: No such file or directory`, `bash: x: command not found` | failed | a shell's own message, nothing else printed |
 * | text: its last line is `make: *** [target] Error N` | failed | GNU make's own last word, also `gmake`, `make[1]` |
 * | text: exit code N in a known form, on the first or the last line | failed unless N is 0, which says worked | `Exit code: N`, `exit status N`, `[exit code: N]`, `<returncode>N</returncode>`, `(command …) exit code N`, `exitcode: N (execution failed)`; on the first line it outranks a traceback below |
 * | printed object: error set; success or ok false; isError or is_error true | failed | JSON or Python's repr; their opposites say worked; text such as "None" is not set |
 * | printed object: status "error"; "success", "ok" | failed; worked | "failed" may be the state of an order: nothing |
 * | printed object: exit_code, exitCode, returncode, return_code: a number | failed unless 0 | |
 * | printed object: `errors`, a list that is not empty, with no data beside it | failed | `{"errors": 3}` and a linter's findings beside data say nothing |
 * | printed object {type: text, text}, printed text | as the text inside | content parts, JSON in JSON |
 * | printed list: every element says failed | failed | one failed element of several says nothing of the call |
 * | MCP's result as Python prints it, `… isError=True` | failed; False: worked | |
 * | nothing of this | null | in a closed world the format itself makes it a success: every answer of tau-bench comes from its own code; Anthropic's `is_error` is false where it is absent |
 */
export function toolFailed(text: string, flag: boolean | null): boolean | null {
  return flag ?? textFailed(text, 0);
}

/** What the fields beside a result say, in OpenAI's, Anthropic's, MCP's and LangChain's names. */
export function failureFlag(fields: Fields): boolean | null {
  for (const name of ['is_error', 'isError']) {
    const flag = field(fields, name);
    if (typeof flag === 'boolean') return flag;
    if (typeof flag === 'string' && /^(true|false)$/i.test(flag)) return flag.toLowerCase() === 'true';
    if (flag === 0 || flag === 1) return flag === 1;
  }
  const error = field(fields, 'error');
  if (error !== undefined && error !== null) return isSet(error);
  const status = field(fields, 'status');
  if (typeof status !== 'string') return null;
  if (/^(error|failed|failure)$/i.test(status)) return true;
  return /^(success|succeeded|ok|completed)$/i.test(status) ? false : null;
}

/** Whether a parsed `error` holds one. */
function isSet(error: unknown): boolean {
  if (typeof error === 'string') return !UNSET.test(error.trim());
  if (Array.isArray(error)) return error.length > 0;
  if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0;
  return Boolean(error);
}

/** Texts that say that there is none. */
const UNSET = /^(none|null|false|nil|undefined|no error)?$/i;

const FAILED: readonly RegExp[] = [
  /^error(?:\s*$|\s*[:：!(]|\s*\n|\s+[-–—]|\.(?:\s|$)|\s+(?:executing|calling|running|invoking|occurred|while|during|when|in|code|reading|writing|parsing|processing|fetching|from|with|on|at|\d)\b)/i,
  /^(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\s*$|\s*\n|:|\()/,
  /^(?:[a-z_]\w*\.)*Exception(?:\s*$|\s*\n|:|\()/,
  /^Traceback \(most recent call last\):/,
  /^\[?Your proposed edit has introduced new syntax error/,
  /^Unknown (?:action|tool|function|command)\b/i,
  /^(?:no such|invalid|unrecogni[sz]ed) (?:tool|function|action)\b/i,
  /^(?:tool|function|action) ['"`]?[\w.-]+['"`]? (?:not found|does not exist|is not (?:a valid tool|available|defined|found))/i,
  /^['"`]?[\w.-]+['"`]? is not a valid tool\b/i,
  /^(?:tool|function|action|api|request|command|code|runtime|execution|validation|internal|server|internal server|syntax|tool execution|tool call|function call|code execution|command execution) error(?:\s*$|:|\s*\n)/i,
  /^failed (?:to [a-z]|with )|^failed:/i,
  /^(?:the )?(?:tool|function|tool call|function call|command|request|execution|operation|api call) (?:execution )?(?:failed|(?:has )?timed out)\b(?! tests)/i,
  /^<(error|tool_use_error|tool_error)>[\s\S]*<\/\1>\s*$/i,
  /^[^\s:][^\n:]*: (?:[^\n]*: )?(?:No such file or directory|Permission denied|command not found|Is a directory|Not a directory)$/i,
];

/** A traceback that the text ends with: its last line names the exception. */
const TRACEBACK = /(?:^|\n)[ \t]*Traceback \(most recent call last\):[ \t]*\r?\n/;
const EXCEPTION_LINE = /^\s*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Exit|Interrupt|Warning)\b/;

const MAKE_FAILED = /^g?make(?:\[\d+\])?: \*\*\* .*(?:Error \d+|Stop\.)$/;

/** A line that tells a shell's exit code, and nothing else. */
const EXIT_CODE =
  /^[[(<]?(?:the )?(?:(?:command|process|program|script|shell) )?(?:ran, then )?(?:(?:failed|exited|finished|completed|returned|terminated|ended) )?(?:with )?(?:non-zero |unix )?(?:exit[ _-]?(?:code|status)|return[ _-]?code|code|status)(?: is| was)? ?[:=>]? ?(-?\d{1,10})(?:[.)\]\s]*| \(execution (?:failed|succeeded)\)|<\/[\w ]+>)$/i;
/** Without one of these words a number is no exit code ("Status: 200", "code 7"). */
const EXITS = /exit|return|(?:failed|finished|completed|terminated) with/i;

function textFailed(text: string, depth: number): boolean | null {
  const trimmed = text.trim();
  if (FAILED.some((pattern) => pattern.test(trimmed))) return true;
  const exit = exitOf(firstLine(trimmed));
  if (exit !== null) return exit;
  if (TRACEBACK.test(trimmed) && EXCEPTION_LINE.test(lastLines(trimmed)[0]!)) return true;
  if (MAKE_FAILED.test(trimmed.slice(trimmed.lastIndexOf('\n') + 1))) return true;
  const mcp = /^(?:meta=|CallToolResult\()[\s\S]*\bisError=(True|False)\)?$/.exec(trimmed);
  if (mcp) return mcp[1] === 'True';
  const printed = printedValue(trimmed);
  const said = printed === undefined ? null : printedFailed(trimmed, printed, depth);
  return said ?? exitAtEnd(trimmed);
}

/** From the last line, or from those before it where harnesses add others in brackets. */
function exitAtEnd(text: string): boolean | null {
  for (const line of lastLines(text)) {
    const failed = exitOf(line);
    if (failed !== null) return failed;
  }
  return null;
}

/** What the exit code on a line says; null where it tells none. */
function exitOf(line: string): boolean | null {
  const code = line.length <= LINE && EXITS.test(line) ? EXIT_CODE.exec(line)?.[1] : undefined;
  return code === undefined ? null : Number(code) !== 0;
}

/** Longest line that is looked at for an exit code. */
const LINE = 200;

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end).trimEnd();
}

function lastLines(text: string): string[] {
  const lines: string[] = [];
  for (let end = text.length; lines.length < 5; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    lines.push(text.slice(start, end).trim());
    if (start === 0 || !/^[[<(]/.test(lines.at(-1)!)) break;
    end = start - 1;
  }
  return lines;
}

/** Printed values within printed values are looked at so far. */
const DEEPEST = 3;

function printedFailed(text: string, value: Printed, depth: number): boolean | null {
  if (depth >= DEEPEST) return null;
  if (value.kind === 'text') return textFailed(value.text, depth + 1);
  if (value.kind === 'object') return objectFailed(text, value, depth);
  if (value.kind !== 'list' || value.empty) return null;
  for (const element of printedElements(text, value))
    if (printedFailed(text, element, depth + 1) !== true) return null;
  return true;
}

/** Fields beside `errors` that are no data. */
const NO_DATA: ReadonlySet<string> = new Set([
  'errors',
  'message',
  'status',
  'code',
  'statusCode',
  'extensions',
]);

function objectFailed(
  text: string,
  object: Printed & { readonly start: number },
  depth: number,
): boolean | null {
  let said: boolean | null = null;
  let errors = false;
  let data = false;
  let part: Printed | undefined;
  let isPart = false;
  for (const [name, value] of printedFields(text, object)) {
    const one = fieldFailed(name, value);
    if (one === true) return true;
    said = one ?? said;
    if (name === 'errors' && value.kind === 'list' && !value.empty) errors = true;
    else if (!NO_DATA.has(name) && value.kind !== 'null') data = true;
    if (name === 'type') isPart = value.kind === 'text' && value.text === 'text';
    if (name === 'text') part = value;
  }
  if (said !== null) return said;
  if (errors && !data) return true;
  return isPart && part?.kind === 'text' ? textFailed(part.text, depth + 1) : null;
}

function fieldFailed(name: string, value: Printed): boolean | null {
  switch (name) {
    case 'error':
      if (value.kind === 'null') return false;
      if (value.kind === 'text') return !UNSET.test(value.text.trim());
      if (value.kind === 'number' || value.kind === 'boolean') return Boolean(value.value);
      return value.kind === 'other' || !(value as { empty: boolean }).empty;
    case 'success':
    case 'ok':
      return value.kind === 'boolean' ? !value.value : null;
    case 'isError':
    case 'is_error':
      return value.kind === 'boolean' ? Boolean(value.value) : null;
    case 'status':
      if (value.kind !== 'text') return null;
      return value.text === 'error' ? true : /^(success|ok)$/.test(value.text) ? false : null;
    case 'exit_code':
    case 'exitCode':
    case 'returncode':
    case 'return_code':
      return value.kind === 'number' ? value.value !== 0 : null;
    default:
      return null;
  }
}
