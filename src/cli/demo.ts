import { mkdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { audit } from '../audit/audit.ts';
import { ingest } from '../ingest/ingest.ts';
import { readPolicyFile } from '../policy/read-policy-file.ts';
import { buildReport } from '../report/build-report.ts';
import { formatInterval, formatNumber } from '../report/format.ts';
import { headline } from '../report/headline.ts';
import { reportPage } from '../report/report-page.ts';
import type { Report } from '../schema/report.ts';
import { toolAgentExact } from '../simulate/tool-agent-exact.ts';
import { TOOL_AGENT_POLICIES } from '../simulate/tool-agent-law.ts';
import { openStore } from '../store/store.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../weights/from-policy-file.ts';
import { text, whole } from './arguments.ts';
import { type Command, jsonOption, seedOption } from './command.ts';
import { creditText } from './credit-text.ts';
import { descriptionText } from './describe.ts';
import { cannotWrite, writeWhole } from './output-file.ts';
import { table } from './table.ts';

const DATASET = fileURLToPath(new URL('../../datasets/tool-agent/', import.meta.url));
const POLICIES = ['soft', 'patient', 'eager'] as const;

export const demoCommand: Command = {
  name: 'demo',
  summary: 'the main job on 2,000 simulated episodes whose exact values are known',
  options: {
    out: {
      type: 'string',
      value: 'DIR',
      default: 'turnwise-demo',
      help: 'where the store and the report go',
    },
    seed: seedOption,
    json: jsonOption,
  },
  examples: ['turnwise demo', 'turnwise demo --out /tmp/demo'],
  async run(values, _positionals, io) {
    const out = resolve(text(values, 'out')!);
    try {
      mkdirSync(out, { recursive: true });
    } catch (cause) {
      throw cannotWrite(out, cause);
    }
    const path = join(out, 'demo.duckdb');
    for (const file of [path, `${path}.wal`]) rmSync(file, { force: true });
    const store = await openStore(path, { mode: 'create' });
    try {
      await ingest(store, [join(DATASET, 'episodes.jsonl')]);
      const logs = await loadTrajectories(store, { features: true });
      const targets: Report['targets'] = POLICIES.map((name) => {
        const policy = readPolicyFile(join(DATASET, `${name}.policy.json`));
        return {
          // A return here lies between six turns of thinking for nothing and a success at once.
          audit: audit(logRatiosFromPolicyFile(logs, policy), { range: [-0.3, 1] }),
          exact: toolAgentExact(TOOL_AGENT_POLICIES[name]).value,
        };
      });
      const report = await buildReport(store, {
        title: 'Turnwise on the tool-agent data set',
        targets,
        critic: { seed: whole(values, 'seed')! },
        onProgress: (what) => io.progress(what),
      });
      const json = `${JSON.stringify(report, null, 2)}\n`;
      const page = join(out, 'report.html');
      writeWhole(join(out, 'report.json'), json);
      writeWhole(page, reportPage(report));
      if (values.json) io.out(json);
      else {
        io.out(`${descriptionText(report.description)}\n`);
        if (report.credit) io.out(`${creditText(report.credit)}\n`);
        io.out(`${candidates(report.targets)}\n`);
        io.out(`Report: ${relative(process.cwd(), page) || page}\n`);
        io.out(`        ${relative(process.cwd(), join(out, 'report.json'))} is the same as data\n`);
      }
    } finally {
      store.close();
    }
    return 0;
  },
};

/** For each policy the verdict, the estimate and its interval (bounds where refused), and the exact value. */
function candidates(targets: Report['targets']): string {
  const rows = targets.map(({ audit: a, exact }) => {
    const refused = a.verdict === 'refused';
    const e = refused ? null : headline(a);
    const span = refused
      ? `${formatInterval(a.evaluation?.bounds ?? null)} bounds`
      : formatInterval(e?.interval ?? null);
    return [a.target, a.verdict, formatNumber(e?.value), span, formatNumber(exact)];
  });
  return `Candidate policies\n${table(['policy', 'verdict', 'estimate', '95 % interval', 'exact value'], rows, [2, 4])}`;
}
