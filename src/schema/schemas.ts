import type { z } from 'zod';
import { ActionConfig } from './action-config.ts';
import { Audit } from './audit.ts';
import { AuditConfig } from './audit-config.ts';
import { BehaviourModelConfig } from './behaviour-model.ts';
import { Check } from './check.ts';
import { CompareConfig, Comparison } from './compare.ts';
import { Credit } from './credit.ts';
import { CriticConfig } from './critic-config.ts';
import { Description } from './describe.ts';
import { Devices } from './devices.ts';
import { Episode } from './episode.ts';
import { AuditedEvaluation, RefusedEvaluation } from './evaluation-result.ts';
import { Imported } from './imported.ts';
import { IngestResult } from './ingest-result.ts';
import { Manifest } from './manifest.ts';
import { PolicyComparison } from './policy-comparison.ts';
import { Report } from './report.ts';
import { RewardRow } from './reward-row.ts';
import { Score } from './score.ts';
import { StateConfig } from './state-config.ts';

/** What a person or a program writes (input) and what Turnwise prints (output), by the name `turnwise schema` takes. */
export const SCHEMAS: Readonly<Record<string, { schema: z.ZodType; io: 'input' | 'output'; about: string }>> =
  {
    episode: { schema: Episode, io: 'input', about: 'the canonical log record, one a line' },
    score: {
      schema: Score,
      io: 'input',
      about: 'log-probabilities of another policy on logged turns, one a line',
    },
    rewards: { schema: RewardRow, io: 'input', about: 'a row of what "turnwise ingest --rewards" joins' },
    manifest: { schema: Manifest, io: 'input', about: 'manifest of a data set' },
    'state-config': { schema: StateConfig, io: 'input', about: 'declared features of the state' },
    'action-config': { schema: ActionConfig, io: 'input', about: 'declared features of the action' },
    'critic-config': { schema: CriticConfig, io: 'input', about: 'the turn-level critic' },
    'compare-config': { schema: CompareConfig, io: 'input', about: 'the paired comparison' },
    'audit-config': { schema: AuditConfig, io: 'input', about: 'thresholds of the verdict' },
    'behaviour-model': {
      schema: BehaviourModelConfig,
      io: 'input',
      about: 'propensities estimated where the logs hold none',
    },
    ingest: { schema: IngestResult, io: 'output', about: 'what "turnwise ingest --json" prints' },
    import: { schema: Imported, io: 'output', about: 'what "turnwise import --json" prints' },
    check: { schema: Check, io: 'output', about: 'what "turnwise check --json" prints' },
    describe: { schema: Description, io: 'output', about: 'what "turnwise describe --json" prints' },
    compare: { schema: Comparison, io: 'output', about: 'what "turnwise compare --json" prints' },
    credit: { schema: Credit, io: 'output', about: 'what "turnwise credit --json" prints' },
    audit: { schema: Audit, io: 'output', about: 'what "turnwise audit --json" prints' },
    evaluate: { schema: AuditedEvaluation, io: 'output', about: 'what "turnwise evaluate --json" prints' },
    'refused-evaluation': {
      schema: RefusedEvaluation,
      io: 'output',
      about: 'what it prints where the logs allow no number at all',
    },
    'policy-comparison': {
      schema: PolicyComparison,
      io: 'output',
      about: 'what it prints with several targets',
    },
    devices: { schema: Devices, io: 'output', about: 'what "turnwise devices --json" prints' },
    report: { schema: Report, io: 'output', about: 'what "turnwise report --json" prints' },
  };
