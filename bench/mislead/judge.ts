import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import type { Audit, Verdict } from '../../src/schema/audit.ts';
import { openStore } from '../../src/store/store.ts';
import type { DataSet, World } from './world.ts';

/** An interval that claims its coverage, and whether it holds the exact value. */
export interface Claim {
  readonly estimator: string;
  readonly covers: boolean;
}

export interface Judged {
  readonly verdict: Verdict;
  readonly reasons: readonly string[]; // codes
  readonly claims: readonly Claim[];
}

/** Audits a data set the way a user does: ingested from files, the target by name or by file. */
export async function judge(world: World, data: DataSet): Promise<Judged> {
  const dir = mkdtempSync(join(tmpdir(), 'turnwise-mislead-'));
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    const lines = (name: string, records: readonly object[]): string => {
      const path = join(dir, name);
      writeFileSync(path, records.map((r) => `${JSON.stringify(r)}\n`).join(''));
      return path;
    };
    const files = [lines('log.jsonl', data.episodes)];
    if (data.scores) files.push(lines('scores.jsonl', data.scores));
    const result = await ingest(store, files);
    const bad = result.files.find((f) => f.rejects > 0 || f.status === 'failed');
    if (bad) throw new Error(`${world.name}: ${JSON.stringify(bad)}`);
    let target = 'target';
    if (data.policy) {
      target = join(dir, 'target.json');
      writeFileSync(target, JSON.stringify(data.policy));
    }
    return judged(world, await auditTarget(store, target, { config: { discount: world.discount ?? 1 } }));
  } finally {
    store.close();
    rmSync(dir, { recursive: true });
  }
}

function judged({ value }: World, audit: Audit): Judged {
  const claims = (audit.evaluation?.estimates ?? []).flatMap(({ estimator, interval }): Claim[] =>
    interval === null || interval.method.includes('coverage not claimed')
      ? []
      : [{ estimator, covers: interval.lo <= value && value <= interval.hi }],
  );
  return { verdict: audit.verdict, reasons: [...new Set(audit.reasons.map((r) => r.code))], claims };
}
