/** Audits the targets of a store in a process of its own: `DIST STORE THREADS TARGET…`; prints time and peak memory. */
const [dist, path, threads, ...targets] = process.argv.slice(2) as [string, string, string, ...string[]];
const { auditStore } = (await import(
  `${dist}/audit/audit-store.js`
)) as typeof import('../src/audit/audit-store.ts');
const { openStore } = (await import(`${dist}/store/store.js`)) as typeof import('../src/store/store.ts');

const started = performance.now();
const store = await openStore(path, { mode: 'read', memoryLimit: '256MB' });
const audits = await auditStore(store, targets, threads === 'auto' ? {} : { threads: Number(threads) });
store.close();
const seconds = (performance.now() - started) / 1000;
console.log(
  JSON.stringify({
    seconds: Math.round(seconds * 100) / 100,
    peakMB: Math.round(process.resourceUsage().maxRSS / 1024),
    verdicts: audits.map((a) => a.verdict),
    ess: audits[0]?.weights?.ess,
    wis: audits[0]?.evaluation?.estimates.find((e) => e.estimator === 'WIS')?.value,
  }),
);
