import { spawnSync } from 'node:child_process';
import { failure } from '../../schema/error.ts';

/**
 * Runs a program to its end and returns what it wrote to standard output.
 * @throws where it is not there, or fails: with the lines it wrote last
 */
export function runTool(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly what?: string } = {},
): string {
  const { what = program, ...where } = options;
  const done = spawnSync(program, args, { ...where, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  if (done.status === 0) return done.stdout;
  const wrote = `${done.stdout ?? ''}${done.stderr ?? ''}`.trim().split('\n').slice(-40).join('\n');
  const absent = (done.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  throw failure({
    subject: what,
    wrong: absent
      ? `the program ${program} is not there`
      : `ended with ${done.signal ?? done.status ?? done.error?.message}${wrote && `:\n${wrote}`}`,
  });
}
