import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { policyFile, simulated } from '../helpers/agent-turns.ts';
import { storeOf } from '../helpers/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-audit-target-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a large store is scanned, says so, and gives the verdict and values of a loaded one', async () => {
  const store = await storeOf(simulated(60, 5, 11));
  const path = join(folder, 'soft.json');
  writeFileSync(path, JSON.stringify(policyFile('soft')));
  const loaded = await auditTarget(store, path);
  const scanned = await auditTarget(store, path, { scanAbove: 0 });
  expect(loaded.warnings.map((w) => w.code)).not.toContain('scanned');
  expect(scanned.warnings.map((w) => w.code)).toContain('scanned');
  expect(scanned.verdict).toBe(loaded.verdict);
  for (const name of ['IS', 'WIS', 'PDIS', 'WPDIS carried']) {
    const value = (a: typeof loaded) => a.evaluation!.estimates.find((e) => e.estimator === name)!.value!;
    expect(value(scanned)).toBeCloseTo(value(loaded), 9);
  }
  store.close();
});
