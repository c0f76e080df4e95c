import { parseArgs } from 'node:util';
import { failure } from '../schema/error.ts';
import type { Command, Values } from './command.ts';
import { didYouMean } from './nearest.ts';

/** Reads the flags of a command; an unknown or missing flag, or one value too many, is a usage error (exit 2). */
export function readArguments(
  command: Command,
  args: readonly string[],
): { values: Values; positionals: readonly string[] } {
  const usage = (wrong: string, fix = `See "turnwise ${command.name} --help".`) =>
    failure({ subject: `turnwise ${command.name}`, wrong, fix, exitCode: 2 });
  for (const [old, now] of Object.entries(command.renamed ?? {}))
    if (args.some((arg) => arg === `--${old}` || arg.startsWith(`--${old}=`)))
      throw usage(`--${old} is no flag`, `Use --${now}.`);
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(command, args);
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    const wrong = message.split('. ')[0]!.replace(/^./, (c) => c.toLowerCase());
    const typed = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'--([^'=]+)/.exec(message)?.[1] : undefined;
    const meant =
      typed === undefined ? undefined : didYouMean(typed, [...Object.keys(command.options), 'help'], '--');
    throw meant === undefined ? usage(wrong) : usage(wrong, meant);
  }
  const given = new Map<string, string>();
  for (const token of parsed.tokens) {
    if (token.kind !== 'option' || token.value === undefined) continue;
    const { name, value } = token;
    const option = command.options[name]!;
    const before = given.get(name);
    // The last one would win, and a gate would pass on a target that nobody looked at.
    if (before !== undefined && !option.multiple)
      throw usage(`--${name} takes one value, got "${before}" and "${value}"`, option.several);
    given.set(name, value);
  }
  const values: Record<string, string | boolean | string[] | undefined> = {};
  for (const [name, option] of Object.entries(command.options)) {
    const value = parsed.values[name] as string | boolean | string[] | undefined;
    if (value === undefined && option.required) throw usage(`--${name} is missing`);
    values[name] = value ?? option.default;
  }
  if (!command.positionals && parsed.positionals.length > 0)
    throw usage(`takes no argument, got "${parsed.positionals[0]}"`);
  return { values, positionals: parsed.positionals };
}

function parse(command: Command, args: readonly string[]) {
  return parseArgs({
    args: joinNegative(command, withAbsent(command, args)),
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(command.options).map(([name, o]) => [
        name,
        { type: o.type, multiple: o.multiple ?? false },
      ]),
    ),
  });
}

/** "--require-better" without a value after it as "--require-better=0". */
const withAbsent = (command: Command, args: readonly string[]): string[] =>
  args.map((arg, i) => {
    const absent = arg.startsWith('--') ? command.options[arg.slice(2)]?.absent : undefined;
    // A value that follows is taken, a negative number too; another flag, or nothing, is not one.
    return absent === undefined || /^(-[\d.]|[^-])/.test(args[i + 1] ?? '') ? arg : `${arg}=${absent}`;
  });

/** "--range -1,1" as "--range=-1,1": a value that starts with a negative number is not a flag. */
function joinNegative(command: Command, args: readonly string[]): string[] {
  const out: string[] = [];
  for (const arg of args) {
    const before = out.at(-1);
    const takesValue =
      before?.startsWith('--') === true && command.options[before.slice(2)]?.type === 'string';
    if (takesValue && /^-[\d.]/.test(arg)) out[out.length - 1] = `${before}=${arg}`;
    else out.push(arg);
  }
  return out;
}

/** The value of a text flag, or undefined where it is not given. */
export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** The value of a numeric flag. */
export function number(values: Values, name: string, expected = 'a number'): number | undefined {
  const value = text(values, name);
  if (value === undefined) return undefined;
  const n = Number(value);
  if (value.trim() === '' || !Number.isFinite(n))
    throw failure({
      subject: `--${name}`,
      wrong: 'is not a number',
      got: `"${value}"`,
      expected,
      exitCode: 2,
    });
  return n;
}

/** The value of a flag that takes a whole number of at least `least` and at most `most`. */
export function whole(values: Values, name: string, least = 0, most = Infinity): number | undefined {
  const expected =
    most === Infinity
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most.toLocaleString('en')}`;
  const n = number(values, name, expected);
  if (n !== undefined && !(Number.isSafeInteger(n) && n >= least && n <= most))
    throw failure({ subject: `--${name}`, wrong: 'is out of range', got: n, expected, exitCode: 2 });
  return n;
}

/** Refuses a flag that is given and would change nothing. */
export function refuseIdle(values: Values, name: string, wrong: string, fix?: string): void {
  if (values[name] === undefined || values[name] === false) return;
  throw failure({ subject: `--${name}`, wrong, fix, exitCode: 2 });
}
