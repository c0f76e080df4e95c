import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Report } from '../../src/schema/report.ts';
import exact from '../fixtures/tool-agent-exact.json' with { type: 'json' };

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'turnwise-demo-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('turnwise demo', () => {
  let out: string;
  let report: Report;
  beforeAll(() => {
    expect(existsSync(main), 'dist is missing: npm run build').toBe(true);
    out = execFileSync(process.execPath, [main, 'demo', '--out', join(folder, 'a')], { encoding: 'utf8' });
    report = Report.parse(JSON.parse(readFileSync(join(folder, 'a', 'report.json'), 'utf8')));
  });

  test('ends with verdict, estimate, interval and exact value of each policy, and the path of the report', () => {
    const lines = out.trim().split('\n');
    expect(lines.slice(-2).join()).toContain('report.html');
    for (const name of ['soft', 'patient', 'eager'] as const) {
      const row = lines.find((l) => l.trim().startsWith(`${name} `))!;
      expect(row).toMatch(/supported|weak|refused/);
      expect(row).toMatch(/\[.*, .*\]/);
      expect(Math.abs(Number(row.trim().split(/\s+/).at(-1)) - exact.policies[name].V.value)).toBeLessThan(
        0.00051,
      );
    }
  });

  test('names its store where it is, and not where it was made', () => {
    expect(out.split('\n')[0]).toBe(join(folder, 'a', 'demo.duckdb'));
    expect(report.description.store).toBe(report.check.store);
    expect(existsSync(report.check.store)).toBe(true);
  });

  test('the exact values lie in the intervals and bounds it prints', () => {
    for (const { audit, exact: value } of report.targets) {
      const span =
        audit.verdict === 'refused'
          ? audit.evaluation!.bounds!
          : audit.evaluation!.estimates.find((e) => e.estimator === 'WPDIS carried')!.interval!;
      expect(span.lo).toBeLessThan(value!);
      expect(span.hi).toBeGreaterThan(value!);
    }
  });

  test('refused: no interval, only bounds', () => {
    const refused = report.targets.filter((t) => t.audit.verdict === 'refused');
    expect(refused.map((t) => t.audit.target)).toEqual(['patient']);
    for (const { audit } of refused)
      expect(audit.evaluation!.estimates.map((e) => e.interval)).toEqual(
        audit.evaluation!.estimates.map(() => null),
      );
  });

  test('it names its store where that is, not where it was written', () => {
    const store = join(folder, 'a', 'demo.duckdb');
    expect([report.description.store, report.check.store]).toEqual([store, store]);
    expect(out).toContain(store);
    expect(existsSync(store)).toBe(true);
  });

  test('same seed, same bytes', () => {
    const args = [main, 'demo', '--out', join(folder, 'a'), '--json'];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe(
      readFileSync(join(folder, 'a', 'report.json'), 'utf8'),
    );
  });
});
