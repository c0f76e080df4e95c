import { basename } from 'node:path';
import { auditTarget } from '../audit/audit-target.ts';
import { buildReport } from '../report/build-report.ts';
import { reportPage } from '../report/report-page.ts';
import type { Report } from '../schema/report.ts';
import { refuseIdle, text, whole } from './arguments.ts';
import { type Command, jsonOption, seedOption, storeOptions } from './command.ts';
import { openGiven } from './open-store.ts';
import { claimOutput, writeWhole } from './output-file.ts';
import { auditOptions, targetOptions } from './target.ts';

export const reportCommand: Command = {
  name: 'report',
  summary: 'everything about a store in one self-contained HTML page',
  options: {
    ...storeOptions,
    out: { type: 'string', value: 'FILE', default: 'turnwise-report.html', help: 'the page to write' },
    force: { type: 'boolean', help: 'overwrite it' },
    target: { type: 'string', value: 'NAME|FILE', multiple: true, help: 'also audit this policy' },
    'trained-on': targetOptions['trained-on']!,
    range: targetOptions.range!,
    'estimate-propensities': targetOptions['estimate-propensities']!,
    behaviour: targetOptions.behaviour!,
    title: { type: 'string', help: 'title of the page' },
    seed: seedOption,
    json: jsonOption,
  },
  examples: [
    'turnwise report --store runs.duckdb --out report.html',
    'turnwise report --store runs.duckdb --target a.policy.json --target b.policy.json',
    'turnwise report --store runs.duckdb --target a.policy.json --estimate-propensities --force',
  ],
  async run(values, _positionals, io) {
    const path = text(values, 'store')!;
    const out = text(values, 'out')!;
    const named = (values.target as readonly string[] | undefined) ?? [];
    if (!values.json) claimOutput(out, values.force === true, [path, ...named]);
    const options = auditOptions(values);
    if (named.length === 0)
      for (const flag of ['trained-on', 'range', 'estimate-propensities', 'behaviour'])
        refuseIdle(values, flag, 'is for the audit of a target, and none is named', 'Add --target.');
    const store = await openGiven(values, 'read');
    try {
      const targets: Report['targets'] = [];
      for (const target of named) {
        io.progress(`audit ${target}`);
        targets.push({ audit: await auditTarget(store, target, options), exact: null });
      }
      const report = await buildReport(store, {
        title: text(values, 'title') ?? `Agent logs in ${basename(path)}`,
        targets,
        critic: { seed: whole(values, 'seed')! },
        onProgress: (what) => io.progress(what),
      });
      if (values.json) io.out(`${JSON.stringify(report, null, 2)}\n`);
      else {
        await writeWhole(out, reportPage(report), values.force === true, [path, ...named]);
        io.out(`${out}\n`);
      }
    } finally {
      store.close();
    }
    return 0;
  },
};
