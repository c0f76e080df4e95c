import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Dealer, Subscriber } from 'zeromq';

/** What one cell printed, showed and returned, or the error it ended with. */
export interface CellOutput {
  readonly text: string;
  readonly html: readonly string[];
  readonly error: string | null;
}

/** A tslab kernel spoken to in the Jupyter protocol (messaging 5.3), without Python. */
export interface Kernel {
  execute(code: string): Promise<CellOutput>;
  stop(): Promise<void>;
}

interface Message {
  readonly type: string;
  readonly parent: string | undefined;
  readonly content: Record<string, unknown>;
}

const DELIMITER = '<IDS|MSG>';

export async function startKernel(cwd: string): Promise<Kernel> {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-kernel-'));
  const [shellPort, iopubPort, stdinPort, controlPort, hbPort] = await freePorts(5);
  const key = randomUUID();
  const connection = join(folder, 'connection.json');
  writeFileSync(
    connection,
    JSON.stringify({
      transport: 'tcp',
      ip: '127.0.0.1',
      key,
      signature_scheme: 'hmac-sha256',
      shell_port: shellPort,
      iopub_port: iopubPort,
      stdin_port: stdinPort,
      control_port: controlPort,
      hb_port: hbPort,
    }),
  );
  const tslab = resolve(import.meta.dirname, '../../node_modules/tslab/bin/tslab');
  const child = spawn(process.execPath, [tslab, 'kernel', '--config-path', connection], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr!.on('data', (data) => (stderr += data));
  const shell = new Dealer({ linger: 0 });
  const iopub = new Subscriber({ linger: 0 });
  shell.connect(`tcp://127.0.0.1:${shellPort}`);
  iopub.connect(`tcp://127.0.0.1:${iopubPort}`);
  iopub.subscribe();
  const waiting = new Map<string, (message: Message) => void>();
  const listen = async (socket: AsyncIterable<Buffer[]>) => {
    for await (const frames of socket) {
      const message = parse(frames);
      if (message.parent !== undefined) waiting.get(message.parent)?.(message);
    }
  };
  const listening = [listen(shell), listen(iopub)];
  const send = async (type: string, content: object): Promise<string> => {
    const id = randomUUID();
    const parts = [
      JSON.stringify({
        msg_id: id,
        session: key,
        username: '',
        date: new Date().toISOString(),
        msg_type: type,
        version: '5.3',
      }),
      '{}',
      '{}',
      JSON.stringify(content),
    ];
    const hmac = createHmac('sha256', key);
    for (const part of parts) hmac.update(part);
    await shell.send([DELIMITER, hmac.digest('hex'), ...parts]);
    return id;
  };

  await ready(
    child,
    () => stderr,
    async () => {
      const id = await send('kernel_info_request', {});
      return new Promise<boolean>((done) => {
        waiting.set(id, () => done(true));
        setTimeout(() => done(false), 500);
      });
    },
  );

  return {
    async execute(code) {
      let text = '';
      const html: string[] = [];
      let error: string | null = null;
      const id = await send('execute_request', {
        code,
        silent: false,
        store_history: true,
        allow_stdin: false,
      });
      await new Promise<void>((done) => {
        let replied = false;
        let idle = false;
        waiting.set(id, ({ type, content }) => {
          if (type === 'stream') text += content.text;
          const data = content.data as Record<string, string> | undefined;
          if (data?.['text/html']) html.push(data['text/html']);
          if (data?.['text/plain']) text += `${data['text/plain']}\n`;
          if (type === 'execute_reply') {
            replied = true;
            if (content.status !== 'ok')
              error ??= `${content.ename ?? 'error'}: ${content.evalue ?? ''}\n${content.traceback ?? ''}\n${text}`;
          }
          if (type === 'status' && content.execution_state === 'idle') idle = true;
          if (replied && idle) done();
        });
      });
      return { text, html, error };
    },
    async stop() {
      child.kill('SIGKILL');
      shell.close();
      iopub.close();
      await Promise.all(listening);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ready(child: ChildProcess, stderr: () => string, ask: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + 300_000;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`tslab ended with code ${child.exitCode}: ${stderr()}`);
    if (await ask()) return;
  }
  throw new Error(`tslab did not answer within 300 s: ${stderr()}`);
}

function parse(frames: readonly Buffer[]): Message {
  const at = frames.findIndex((f) => f.toString() === DELIMITER);
  const [header, parent, , content] = frames.slice(at + 2).map((f) => JSON.parse(f.toString()));
  return { type: header.msg_type, parent: parent.msg_id, content };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      return server;
    }),
  );
  const ports = servers.map((s) => (s.address() as { port: number }).port);
  await Promise.all(servers.map((s) => new Promise((done) => s.close(done))));
  return ports;
}
