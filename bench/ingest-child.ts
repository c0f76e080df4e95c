import { DuckDBInstance } from 'duckdb';

/**
 * One measured run in a process of its own: `turnwise DIST LOG STORE` or `duckdb - LOG STORE`. The clock
 * runs from opening the store to having closed it, all data in its file.
 */
const [side, dist, log, store] = process.argv.slice(2) as [string, string, string, string];
const run = side === 'turnwise' ? await turnwise() : await duckdb();
const started = performance.now();
const episodes = await run();
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ seconds, peakMB: process.resourceUsage().maxRSS / 1024, episodes }));

async function turnwise(): Promise<() => Promise<number>> {
  const { ingest } = (await import(`${dist}/ingest/ingest.js`)) as typeof import('../src/ingest/ingest.ts');
  const { openStore } = (await import(`${dist}/store/store.js`)) as typeof import('../src/store/store.ts');
  return async () => {
    const open = await openStore(store, { mode: 'create', startLimit: '256MB' });
    const result = await ingest(open, [log]);
    open.close();
    if (result.rejects > 0) throw new Error(`${result.rejects} rejects`);
    return result.episodes;
  };
}

async function duckdb(): Promise<() => Promise<number>> {
  return async () => {
    const instance = await DuckDBInstance.create(store);
    const connection = await instance.connect();
    const file = `read_json('${log.replaceAll("'", "''")}', format = 'newline_delimited')`;
    const result = await connection.run(`CREATE TABLE log AS SELECT * FROM ${file}`);
    const [[count]] = (await result.getRows()) as [[bigint]];
    connection.closeSync();
    instance.closeSync();
    return Number(count);
  };
}
