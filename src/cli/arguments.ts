import { parseArgs } from 'node:util';
import { failure } from '../schema/error.ts';
import type { Command, Values } from './command.ts';

/** Reads the flags of a command; an unknown or missing flag is a usage error (exit 2). */
export function readArguments(
  command: Command,
  args: readonly string[],
): { values: Values; positionals: readonly string[] } {
  const usage = (wrong: string) =>
    failure({
      subject: `turnwise ${command.name}`,
      wrong,
      fix: `See "turnwise ${command.name} --help".`,
      exitCode: 2,
    });
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: joinNegative(command, args),
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(command.options).map(([name, o]) => [
          name,
          { type: o.type, multiple: o.multiple ?? false },
        ]),
      ),
    });
  } catch (error) {
    throw usage((error as Error).message.split('. ')[0]!.replace(/^./, (c) => c.toLowerCase()));
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

/** The value of a flag that takes a whole number of at least `least`. */
export function whole(values: Values, name: string, least = 0): number | undefined {
  const n = number(values, name, `a whole number of at least ${least}`);
  if (n !== undefined && !(Number.isSafeInteger(n) && n >= least))
    throw failure({
      subject: `--${name}`,
      wrong: 'is out of range',
      got: n,
      expected: `a whole number of at least ${least}`,
      exitCode: 2,
    });
  return n;
}
