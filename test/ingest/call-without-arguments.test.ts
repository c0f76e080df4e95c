import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';

test.each([
  { name: 'list_airports', result: 'Error: closed', error: true },
  { name: 'list_airports', arguments: null, result: 'Error: closed', error: true },
])('a call is one without arguments too, as a line and as a row of a table: %j', async (call) => {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-call-'));
  const [lines, parquet] = [join(folder, 'log.jsonl'), join(folder, 'log.parquet')];
  const turns = [{ action: 'I look.', tool_calls: [call] }];
  writeFileSync(lines, `${JSON.stringify({ episode_id: 'a', reward: 1, turns })}\n`);
  try {
    for (const path of [lines, parquet]) {
      const store = await openStore(':memory:', { mode: 'create' });
      try {
        if (path === lines)
          await store.connection.run(`COPY (FROM read_json('${lines}')) TO '${parquet}' (FORMAT parquet)`);
        expect(await ingest(store, [path])).toMatchObject({ episodes: 1, rejects: 0 });
        const [row] = await queryRows(store, 'SELECT tool_calls::VARCHAR AS calls, tool_errors FROM turns');
        expect(JSON.parse(row!.calls as string)).toEqual([
          { name: 'list_airports', arguments: null, result: 'Error: closed', error: true },
        ]);
        expect(row!.tool_errors).toBe(1);
      } finally {
        store.close();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
