import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Has a child say its peak memory as it exits. */
const MARK = '#peak ';
const TELL_PEAK = `data:text/javascript,process.on('exit',()=>process.stderr.write('${MARK.replace('#', '%23')}'+process.resourceUsage().maxRSS/1024))`;
const root = resolve(import.meta.dirname, '../..');

/** The command line as `npm run build` makes it, in a folder of its own: a child starts in no time. */
export interface BuiltCli {
  /** A fresh folder for logs and stores. */
  readonly folder: string;
  /** Runs a command in `folder` to its end. */
  run(args: readonly string[], input?: string | Buffer): Done;
  /** Starts a command; the caller kills it. */
  start(args: readonly string[]): ReturnType<typeof spawn>;
  remove(): void;
}

export interface Done {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly peakMB: number;
}

export function buildCli(): BuiltCli {
  const base = mkdtempSync(join(tmpdir(), 'turnwise-ingest-'));
  const dist = join(base, 'dist');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', dist], {
    stdio: 'pipe',
  });
  symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'));
  copyFileSync(join(root, 'package.json'), join(base, 'package.json'));
  const folder = mkdtempSync(join(base, 'work-'));
  const main = join(dist, 'cli/main.js');
  return {
    folder,
    run(args, input) {
      const done = spawnSync(process.execPath, ['--import', TELL_PEAK, main, ...args], {
        cwd: folder,
        input,
        encoding: 'utf8',
      });
      const [err, peak] = done.stderr.split(MARK);
      return { code: done.status, out: done.stdout, err: err!, peakMB: Number(peak) };
    },
    start: (args) => spawn(process.execPath, [main, ...args], { cwd: folder, stdio: 'ignore' }),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** One canonical line. */
export function line(episode_id: string, more: object = {}): string {
  return `${JSON.stringify({ episode_id, ending: 'terminated', turns: [{ action: 'a' }], ...more })}\n`;
}
