import { offending, type Rule } from './rule.ts';

/** What was in the logs and is not in the store. */
export const REJECT_RULES: readonly Rule[] = [
  {
    code: 'rejects',
    severity: 'warning',
    column: 'rejects.reason',
    message:
      'records of the logs were rejected and are in no number: what is left may not stand for the whole',
    fix: 'Mend the records and ingest the file again; for all reasons: turnwise describe.',
    sql: offending({
      episode: 'NULL',
      place: 'source::HUGEINT * 1000000000000000000 + coalesce(byte_offset, line, 0)',
      value: "coalesce(path, 'source ' || source) || coalesce(' line ' || line, '') || ': ' || reason",
      from: 'FROM rejects LEFT JOIN sources USING (source)',
    }),
  },
];
