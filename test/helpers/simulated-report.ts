import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { audit } from '../../src/audit/audit.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { readPolicyFile } from '../../src/policy/read-policy-file.ts';
import { buildReport } from '../../src/report/build-report.ts';
import type { Report } from '../../src/schema/report.ts';
import { openStore } from '../../src/store/store.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';

const data = fileURLToPath(new URL('../../datasets/tool-agent/', import.meta.url));

/** The report of the bundled simulated logs with a supported, a refused and a worse candidate; 0.5 for each exact value. */
export async function simulatedReport(): Promise<Report> {
  const store = await openStore(':memory:', { mode: 'create' });
  try {
    await ingest(store, [join(data, 'episodes.jsonl')]);
    const t = await loadTrajectories(store, { features: true });
    const targets = ['soft', 'patient', 'eager'].map((name) => ({
      audit: audit(logRatiosFromPolicyFile(t, readPolicyFile(join(data, `${name}.policy.json`))), {
        range: [-0.3, 1] as [number, number],
      }),
      exact: 0.5,
    }));
    return await buildReport(store, { title: 'Simulated', targets });
  } finally {
    store.close();
  }
}
