import { auditCommand } from './audit.ts';
import { checkCommand } from './check.ts';
import type { Command } from './command.ts';
import { compareCommand } from './compare.ts';
import { creditCommand } from './credit.ts';
import { demoCommand } from './demo.ts';
import { describeCommand } from './describe.ts';
import { evaluateCommand } from './evaluate.ts';
import { exportCommand } from './export.ts';
import { ingestCommand } from './ingest.ts';
import { reportCommand } from './report.ts';
import { schemaCommand } from './schema.ts';
import { simulateCommand } from './simulate.ts';

/** Every command, in the order of `--help`. */
export const commands: readonly Command[] = [
  demoCommand,
  ingestCommand,
  checkCommand,
  describeCommand,
  compareCommand,
  creditCommand,
  auditCommand,
  evaluateCommand,
  reportCommand,
  exportCommand,
  simulateCommand,
  schemaCommand,
];
