import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Request {
  /** A store; an export, read into a store in memory; a log, likewise; tensors. */
  readonly what: 'store' | 'tables' | 'log' | 'safetensors';
  readonly path: string;
}
export interface Answer {
  readonly sums?: string;
  /** Of a store: what `describe` says of it, as JSON. */
  readonly described?: string;
  readonly refused?: string;
  readonly crashed?: string;
  readonly hung?: true;
}

export interface Sums {
  of(what: Request['what'], path: string): Promise<Answer>;
  close(): void;
}

const LIMIT_MS = 60_000;

/** What files hold, read by another process, one after the other; it is started again where one ends it. */
export function openSums(): Sums {
  let child: ChildProcess | undefined;
  let lines: Interface | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const start = () => {
    const path = fileURLToPath(new URL('./sums-child.ts', import.meta.url));
    child = spawn(process.execPath, ['--import', 'tsx', path], { stdio: ['pipe', 'pipe', 'pipe'] });
    lines = createInterface({ input: child.stdout! });
  };
  const stop = () => {
    lines?.close();
    child?.kill('SIGKILL');
    child = undefined;
  };
  const ask = (request: Request) =>
    new Promise<Answer>((done) => {
      if (!child) start();
      const asked = child!;
      let said = '';
      const end = (answer: Answer) => {
        clearTimeout(limit);
        asked.removeAllListeners('exit');
        asked.stderr!.removeAllListeners('data');
        lines!.removeAllListeners('line');
        done(answer);
      };
      const limit = setTimeout(() => {
        stop();
        end({ hung: true });
      }, LIMIT_MS);
      asked.stderr!.on('data', (text) => (said += text));
      asked.once('exit', (code, signal) => {
        child = undefined;
        end({ crashed: `ended with ${signal ?? code}: ${said.slice(0, 500)}` });
      });
      lines!.once('line', (line) => end(JSON.parse(line) as Answer));
      asked.stdin!.write(`${JSON.stringify(request)}\n`);
    });
  return {
    of(what, path) {
      const answer = last.then(() => ask({ what, path }));
      last = answer;
      return answer;
    },
    close: stop,
  };
}
