import { readArguments } from '../../src/cli/arguments.ts';
import type { Command } from '../../src/cli/command.ts';

/** Runs a command as the program does, and returns what it printed and its exit code. */
export async function run(command: Command, ...args: string[]) {
  let [out, err] = ['', ''];
  const io = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    progress: () => {},
    stdin: process.stdin,
  };
  const { values, positionals } = readArguments(command, args);
  const code = await command.run(values, positionals, io);
  return { code, out, err };
}
