import { writeFileSync } from 'node:fs';
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
import { folderWrittenWhole } from '../store/whole-file.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../weights/from-policy-file.ts';
import { text, whole } from './arguments.ts';
import { type Command, type Io, jsonOption, memoryOption, seedOption, type Values } from './command.ts';
import { creditText } from './credit-text.ts';
import { refuseForeign } from './demo-folder.ts';
import { descriptionText } from './describe.ts';
import { givenMemory } from './open-store.ts';
import { cannotWrite } from './output-file.ts';
import { table } from './table.ts';

const DATASET = fileURLToPath(new URL('../../datasets/tool-agent/', import.meta.url));
const TITLE = 'Turnwise on the tool-agent data set';
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
    force: { type: 'boolean', help: 'replace what is there and is of no demo' },
    seed: seedOption,
    memory: memoryOption,
    json: jsonOption,
  },
  examples: ['turnwise demo', 'turnwise demo --out /tmp/demo'],
  async run(values, _positionals, io) {
    const out = resolve(text(values, 'out')!);
    if (values.force !== true) await refuseForeign(out, TITLE);
    let report: Report | undefined;
    try {
      const write = async (part: string) => {
        report = await runDemo(part, out, values, io);
      };
      await folderWrittenWhole(out, write, /^demo\.duckdb\.wal$/);
    } catch (cause) {
      throw cannotWrite(out, cause);
    }
    if (values.json) io.out(jsonOf(report!));
    else {
      const shown = (name: string) => relative(process.cwd(), join(out, name)) || name;
      io.out(`${descriptionText(report!.description)}\n`);
      if (report!.credit) io.out(`${creditText(report!.credit)}\n`);
      io.out(`${candidates(report!.targets)}\n`);
      io.out(`Report: ${shown('report.html')}\n`);
      io.out(`        ${shown('report.json')} is the same as data\n`);
    }
    return 0;
  },
};

const jsonOf = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`;

/** Writes the store, the page and its data into an empty folder, which is `out` once all is there. */
async function runDemo(folder: string, out: string, values: Values, io: Io): Promise<Report> {
  const store = await openStore(join(folder, 'demo.duckdb'), { mode: 'create', ...givenMemory(values) });
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
    const built = await buildReport(store, {
      title: TITLE,
      targets,
      critic: { seed: whole(values, 'seed')! },
      onProgress: (what) => io.progress(what),
    });
    const path = join(out, 'demo.duckdb');
    const report = {
      ...built,
      description: { ...built.description, store: path },
      check: { ...built.check, store: path },
    };
    writeFileSync(join(folder, 'report.json'), jsonOf(report));
    writeFileSync(join(folder, 'report.html'), reportPage(report));
    return report;
  } finally {
    store.close();
  }
}

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
