import type { PolicyFile } from '../../policy/policy-file.ts';
import { rewardSql } from '../../trajectories/return-sql.ts';
import type { Measure } from '../ratios.ts';
import { holdsStandInSql, isStandInSql, STAND_IN_SQL } from '../stand-in.ts';
import type { RowSource } from './turn-blocks.ts';

/** How the log-ratios of one target are read from a store; plain data, so that it can go to a thread. */
export type TargetPlan =
  | {
      readonly kind: 'scores';
      readonly policy: string;
      readonly measure: Measure;
      /** Whether some scores are sums over tokens. */
      readonly segments: boolean;
      /** Whether its rows lie in the order of (episode, turn). */
      readonly ordered: boolean;
      /** Classes of the logs in order of appearance; none where the measure is of whole actions. */
      readonly classes: readonly string[];
    }
  | {
      readonly kind: 'file';
      readonly file: PolicyFile;
      readonly measure: 'log_propensity';
      /** Those of the logs in order of appearance, then those only the target names. */
      readonly classes: readonly string[];
      /** How many of them are of the logs. */
      readonly logged: number;
    };

/** What is read of the turns: the columns of all targets together. */
export interface ScanPlan {
  readonly turns: RowSource;
  readonly targets: readonly TargetPlan[];
  readonly discount: number;
  /** How many features are read, from the first. */
  readonly features: number;
}

export const FLAGS = {
  logprob: 1,
  propensity: 2,
  actionClass: 4,
  sampling: 8,
  version: 16,
  raw: 32,
  processed: 64,
  otherKind: 128,
} as const;

/** There, as in loaded columns, where NaN is a value that was not logged. */
export const thereSql = (column: string): string => `(${column} IS NOT NULL AND NOT isnan(${column}))`;

/** One small number that says which columns of a turn are there. */
export const FLAG_SQL = (logprob: string): string =>
  [
    `${thereSql(logprob)}::INTEGER`,
    `2 * ${thereSql('behaviour_log_propensity')}::INTEGER`,
    '4 * (action_class IS NOT NULL)::INTEGER',
    `8 * ${thereSql('temperature')}::INTEGER`,
    '16 * (version IS NOT NULL)::INTEGER',
    "CASE WHEN logprob_kind IS NULL THEN 0 WHEN logprob_kind = 'raw' THEN 32 WHEN logprob_kind = 'processed' THEN 64 ELSE 128 END",
  ].join(' + ');

/** Any stand-in for no probability as the one that is refused by name. */
const standInFor = (standIn: string, column: string): string =>
  `CASE WHEN ${standIn} THEN CASE WHEN isinf(${column}) THEN ${column} ELSE ${STAND_IN_SQL} END ELSE ${column} END`;

/** The columns that these targets need. */
export function turnColumns(
  targets: readonly TargetPlan[],
  logprob: string,
  features: number,
): RowSource['columns'] {
  const columns = [
    { name: 'reward', sql: rewardSql('reward') },
    { name: 'flags', sql: FLAG_SQL(logprob) },
  ];
  const measures = new Set(targets.map((t) => t.measure));
  if (measures.has('logprob'))
    columns.push({ name: 'behaviour_logprob', sql: standInFor(holdsStandInSql(logprob), logprob) });
  if (measures.has('log_propensity'))
    columns.push({
      name: 'behaviour_log_propensity',
      sql: standInFor(isStandInSql('behaviour_log_propensity'), 'behaviour_log_propensity'),
    });
  // The classes of the logs are the same for all targets.
  const logged = targets.map(loggedClasses).find((classes) => classes.length > 0);
  if (logged !== undefined) {
    const list = logged.map((c) => `'${c.replaceAll("'", "''")}'`);
    const code = list.length === 0 ? 'NULL' : `list_position([${list.join(', ')}], action_class)`;
    columns.push({ name: 'class', sql: `COALESCE(${code}, 0)::INTEGER - 1` });
  }
  for (const k of new Set([...featuresOf(targets), ...Array(features).keys()]))
    columns.push({ name: `feature_${k}`, sql: `features[${k + 1}]` });
  return columns;
}

/** Action classes of the logs, as far as a target is about them. */
export const loggedClasses = (target: TargetPlan): readonly string[] =>
  target.kind === 'file' ? target.classes.slice(0, target.logged) : target.classes;

/** Indices of the features that rules look at, ascending. */
export function featuresOf(targets: readonly TargetPlan[]): number[] {
  const keys = targets.flatMap((t) =>
    t.kind === 'file' ? t.file.rules.flatMap((r) => Object.keys(r.when)) : [],
  );
  const found = keys.flatMap((key) => (key.startsWith('features.') ? [Number(key.slice(9))] : []));
  return [...new Set(found)].sort((a, b) => a - b);
}
