import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failure } from '../schema/error.ts';
import { queryRows } from '../store/query.ts';
import { openStore } from '../store/store.ts';

/** @throws where the demo would replace what is not of an earlier demo */
export async function refuseForeign(folder: string, title: string): Promise<void> {
  const own: Readonly<Record<string, (path: string) => boolean | Promise<boolean>>> = {
    'demo.duckdb': holdsDemoLogs,
    'report.json': (path) => readFileSync(path, 'utf8').includes(JSON.stringify(title)),
    'report.html': (path) => readFileSync(path, 'utf8').includes(`<title>${title}`),
  };
  for (const [name, isOwn] of Object.entries(own)) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    // What cannot be read is not known to be of a demo.
    const known = await (async () => isOwn(path))().catch(() => false);
    if (!known)
      throw failure({
        subject: path,
        wrong: 'is there already, and of no earlier demo',
        fix: 'Pass --force to replace it, or another --out.',
        exitCode: 2,
      });
  }
}

async function holdsDemoLogs(path: string): Promise<boolean> {
  const store = await openStore(path, { mode: 'read' });
  try {
    const sources = await queryRows(store, 'SELECT path FROM sources');
    return sources.length === 1 && /tool-agent[/\\]episodes\.jsonl$/.test(String(sources[0]!.path));
  } finally {
    store.close();
  }
}
