/* Reads one request a line and answers it in one: in a process of its own, since a damaged file may end it. */
import { createInterface } from 'node:readline';
import { importTables } from '../../src/ingest/import-tables.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { check } from '../../src/inspect/check.ts';
import { describe } from '../../src/inspect/describe.ts';
import { TurnwiseError } from '../../src/schema/error.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { TABLES } from '../../src/store/tables.ts';
import { openSafetensors } from '../../src/tensor/safetensors.ts';
import type { Answer, Request } from './sums.ts';

/** Without the time at which a source was read or a critic kept, and without where it lies. */
const SAME: Readonly<Record<string, string>> = {
  sources: '(SELECT * EXCLUDE (ingested_at, path) FROM sources)',
  critics: '(SELECT * EXCLUDE (fitted_at, sources) FROM critics)',
};

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await answered(JSON.parse(line) as Request);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function answered({ what, path }: Request): Promise<Answer> {
  try {
    if (what === 'store') return await storeSums(path);
    if (what === 'safetensors') return { sums: await tensorSums(path) };
    const store = await openStore(':memory:', { mode: 'create', threads: 1 });
    try {
      if (what === 'tables') await importTables(store, [path]);
      else {
        const { files } = await ingest(store, [path]);
        const failed = files.find((f) => f.status === 'failed');
        if (failed) return { refused: failed.error! };
      }
      await check(store);
      return { sums: await sumsOf(store) };
    } finally {
      store.close();
    }
  } catch (error) {
    if (error instanceof TurnwiseError) return { refused: error.message };
    return { crashed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function storeSums(path: string): Promise<Answer> {
  const store = await openStore(path, { mode: 'read', threads: 1 });
  try {
    return { sums: await sumsOf(store), described: JSON.stringify(await describe(store)) };
  } finally {
    store.close();
  }
}

/** Rows and a sum of their hashes, for each table. */
async function sumsOf(store: Store): Promise<string> {
  const sums: string[] = [];
  for (const table of Object.keys(TABLES)) {
    const [row] = await queryRows(
      store,
      `SELECT count(*) AS n, coalesce(sum(hash(t)::HUGEINT), 0)::VARCHAR AS s FROM ${SAME[table] ?? table} t`,
    );
    sums.push(`${table} ${row!.n} ${row!.s}`);
  }
  return sums.join('; ');
}

async function tensorSums(path: string): Promise<string> {
  const file = await openSafetensors(path);
  try {
    const sums: string[] = [];
    for (const [name, { dtype, shape }] of file.entries) {
      const values = await file.read(name);
      let sum = 0;
      for (const v of values) sum += v;
      sums.push(`${name} ${dtype} ${shape} ${values.length} ${sum}`);
    }
    return sums.join('; ');
  } finally {
    await file.close();
  }
}
