#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { failure, TurnwiseError } from '../schema/error.ts';
import { readArguments } from './arguments.ts';
import { commands } from './commands.ts';
import { commandHelp, programHelp } from './help.ts';
import { terminal } from './terminal.ts';

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.out(programHelp(await Promise.all(Object.values(commands).map((load) => load()))));
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    const pkg = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    terminal.out(`${pkg.version}\n`);
    return 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load)
    throw failure({
      subject: 'turnwise',
      wrong: 'unknown command',
      got: `"${name}"`,
      expected: `one of ${Object.keys(commands).join(', ')}`,
      exitCode: 2,
    });
  const command = await load();
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(commandHelp(command));
    return 0;
  }
  const { values, positionals } = readArguments(command, rest);
  return command.run(values, positionals, terminal);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TurnwiseError)) throw error;
  terminal.err(`error: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
