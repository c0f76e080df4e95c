/* The built command line, run in folders of its own and watched: killed at a moment, told apart from a crash, never waited for without end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from '../built.ts';

/** How a try came out. `held`: as it must be; `refused`: by a message that names the file; the others are faults. */
export type Outcome = 'held' | 'refused' | 'wrong' | 'crashed' | 'hung';

export interface Tally {
  readonly what: string;
  readonly tries: number;
  readonly held: number;
  readonly refused: number;
  readonly wrong: number;
  readonly crashed: number;
  readonly hung: number;
  /** What the tries found, or why there were none. */
  readonly note: string;
}

export interface Done {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  readonly hung: boolean;
  readonly ms: number;
}

export interface RunOptions {
  readonly cwd: string;
  /** Signal this long after the start; after `sign`, where that is given, comes true. */
  readonly kill?: {
    readonly signal: NodeJS.Signals;
    readonly afterMs: number;
    readonly sign?: () => boolean;
  };
  /** Command put in front, for instance of another user. */
  readonly before?: readonly string[];
  /** Closes the reading end of standard output at once. */
  readonly deaf?: boolean;
}

export interface Lab {
  readonly base: string;
  /** Tries of each kind: `of(100)` is 100 in a full run and fewer in a short one. */
  of(full: number): number;
  /** A fresh folder. */
  folder(): string;
  turnwise(args: readonly string[], options: RunOptions): Promise<Done>;
  remove(): void;
}

const LIMIT_MS = 120_000;

export function openLab(scale: number): Lab {
  const base = mkdtempSync(join(tmpdir(), 'turnwise-damage-'));
  const main = join(built(base), 'cli/main.js');
  let n = 0;
  return {
    base,
    of: (full) => Math.max(2, Math.round(full * scale)),
    folder() {
      const path = join(base, `try-${n++}`);
      mkdirSync(path);
      return path;
    },
    turnwise: (args, options) => watched([process.execPath, main, ...args], options),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

function watched(command: readonly string[], { cwd, kill, before = [], deaf }: RunOptions): Promise<Done> {
  const [program, ...args] = [...before, ...command];
  const child = spawn(program!, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const started = performance.now();
  let [out, err, hung] = ['', '', false];
  if (deaf) child.stdout.destroy();
  else child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (err += text));
  const stop = kill && killWhen(child, kill);
  const limit = setTimeout(() => {
    hung = true;
    child.kill('SIGKILL');
  }, LIMIT_MS);
  return new Promise((done) => {
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      stop?.();
      done({ code, signal, out, err, hung, ms: performance.now() - started });
    });
  });
}

function killWhen(child: ChildProcess, { signal, afterMs, sign }: NonNullable<RunOptions['kill']>) {
  let timer: NodeJS.Timeout | undefined;
  const later = () => {
    timer = setTimeout(() => child.kill(signal), afterMs);
  };
  if (!sign) later();
  const look =
    sign &&
    setInterval(() => {
      if (!sign()) return;
      clearInterval(look);
      later();
    }, 1);
  return () => {
    clearInterval(look);
    clearTimeout(timer);
  };
}

/** A command that must not end in a stack trace, by a signal nobody sent, or never. */
export function outcomeOf(done: Done, held: boolean): Outcome {
  if (done.hung) return 'hung';
  if (crashed(done)) return 'crashed';
  if (done.code === 0) return held ? 'held' : 'wrong';
  return 'refused';
}

export const crashed = ({ code, signal, err }: Done): boolean =>
  signal !== null || code === null || code > 3 || /^\s+at .+:\d+:\d+\)?$/m.test(err) || !saysWhy(code, err);

const saysWhy = (code: number, err: string): boolean => code === 0 || /error: .+/.test(err);

/** Runs tries, some at once, and counts how they came out. */
export async function tally(
  what: string,
  tries: number,
  attempt: (k: number) => Promise<{ readonly outcome: Outcome; readonly saw?: string | undefined }>,
  atOnce = 3,
): Promise<Tally> {
  const counts = { held: 0, refused: 0, wrong: 0, crashed: 0, hung: 0 };
  const seen = new Map<string, number>();
  let next = 0;
  const work = async () => {
    while (next < tries) {
      const k = next++;
      const { outcome, saw } = await attempt(k);
      counts[outcome]++;
      if (outcome === 'wrong' || outcome === 'crashed' || outcome === 'hung')
        process.stderr.write(`${what}, try ${k}: ${outcome}${saw ? `: ${saw}` : ''}\n`);
      const line = saw
        ?.split('\n')
        .find((l) => l.trim() !== '')
        ?.slice(0, 80);
      if (line !== undefined) seen.set(line, (seen.get(line) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const note = [...seen]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 4)
    .map(([saw, n]) => `${n} ${saw}`)
    .join(', ');
  return { what, tries, ...counts, note };
}

export const skipped = (what: string, why: string): Tally => ({
  what,
  tries: 0,
  held: 0,
  refused: 0,
  wrong: 0,
  crashed: 0,
  hung: 0,
  note: `skipped: ${why}`,
});

/** Whether something has come into a folder. */
export const fresh = (folder: string) => {
  const known = readdirSync(folder).length;
  return () => readdirSync(folder).length > known;
};
