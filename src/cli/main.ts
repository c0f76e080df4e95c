#!/usr/bin/env node
import { failure, TurnwiseError } from '../schema/error.ts';
import { removeUnfinished } from '../store/whole-file.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { commandHelp, programHelp } from './help.ts';
import { didYouMean } from './nearest.ts';
import { foldedTerminal, terminal } from './terminal.ts';
import { version } from './version.ts';

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  const asked = name === '--help' || name === '-h' || name === 'help';
  if (asked && rest[0] !== undefined && !rest[0].startsWith('-')) {
    foldedTerminal.out(commandHelp(await commandNamed(rest[0])));
    return 0;
  }
  if (name === undefined || asked) {
    foldedTerminal.out(programHelp(await Promise.all(Object.values(commands).map((load) => load()))));
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-v') {
    terminal.out(`${version()}\n`);
    return 0;
  }
  const command = await commandNamed(name);
  if (rest.includes('--help') || rest.includes('-h')) {
    foldedTerminal.out(commandHelp(command));
    return 0;
  }
  const { values, positionals } = readArguments(command, rest);
  if (values.store === ':memory:')
    throw failure({
      subject: '--store',
      wrong: 'a store in memory is gone when the command ends',
      fix: 'Name a file.',
      exitCode: 2,
    });
  if (command.undone) undoWhenInterrupted();
  return command.run(
    values,
    positionals,
    values.json === true || command.prints === 'data' ? terminal : foldedTerminal,
  );
}

async function commandNamed(name: string): Promise<Command> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) return load();
  const names = Object.keys(commands);
  throw failure({
    subject: 'turnwise',
    wrong: 'unknown command',
    got: `"${name}"`,
    expected: `one of ${names.join(', ')}`,
    fix: didYouMean(name, names),
    exitCode: 2,
  });
}

/** Interrupted, it leaves nothing half-written, and ends by the signal as it would have without. */
function undoWhenInterrupted(): void {
  let removing: Promise<void> | undefined;
  const undo = async (signal: NodeJS.Signals): Promise<void> => {
    // Once, and to its end: a second signal while it removes would end it half-way.
    await (removing ??= removeUnfinished());
    process.off(signal, undo);
    process.kill(process.pid, signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, undo);
}

/** The error as it is shown: one for people, or a flag that a configuration refuses. */
function shownError(error: unknown): TurnwiseError | undefined {
  if (error instanceof TurnwiseError) return error;
  if (!(error instanceof Error) || !/^\$?ZodError$/.test(error.name)) return undefined;
  const { issues } = error as unknown as {
    issues: readonly { path: readonly PropertyKey[]; message: string }[];
  };
  const wrong = issues
    .map(({ path, message }) => `${path.map(String).join('.') || 'value'}: ${message}`)
    .join('; ');
  return failure({ subject: 'options', wrong, exitCode: 2 });
}

// A reader that has gone away loses the output, not the exit code: a verdict still has to reach the gate.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`error: standard output: cannot be written (${error.code})\n`);
  process.exit(1);
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const shown = shownError(error);
  // Whatever is not meant for a person is a fault of the program: its stack says where.
  if (!shown) throw error;
  terminal.err(`error: ${shown.message.replaceAll('\n', ' ')}\n`);
  process.exitCode = shown.exitCode;
}
