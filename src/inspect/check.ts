import type { Check, Finding, Severity } from '../schema/check.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { CALL_RULES } from './check-calls.ts';
import { COPIES, checkCopies } from './check-copies.ts';
import { EPISODE_RULES } from './check-episodes.ts';
import { REJECT_RULES } from './check-rejects.ts';
import { STRUCTURE_RULES } from './check-structure.ts';
import { checkTasks, TASK_CHECK } from './check-tasks.ts';
import { checkTokens, TOKEN_CHECKS } from './check-tokens.ts';
import { TURN_RULES } from './check-turns.ts';
import { runRule } from './rule.ts';

const RULES = [...REJECT_RULES, ...STRUCTURE_RULES, ...EPISODE_RULES, ...TURN_RULES, ...CALL_RULES];
const ORDER: readonly Severity[] = ['error', 'warning', 'note'];

/**
 * Looks for what would make numbers from a store wrong. Nothing is changed.
 * Cost: one pass over a table per rule, one over the tokens; a few rows of each finding are held.
 */
export async function check(store: Store): Promise<Check> {
  const [sizes] = await queryRows(
    store,
    'SELECT (SELECT count(*) FROM episodes) AS episodes, (SELECT count(*) FROM turns) AS turns',
  );
  const findings: Finding[] = [];
  for (const rule of RULES) {
    const finding = await runRule(store, rule);
    if (finding) findings.push(finding);
  }
  findings.push(...(await checkTasks(store)), ...(await checkCopies(store)), ...(await checkTokens(store)));
  const count = (severity: Severity): number => findings.filter((f) => f.severity === severity).length;
  return {
    store: store.path,
    episodes: sizes!.episodes as number,
    turns: sizes!.turns as number,
    errors: count('error'),
    warnings: count('warning'),
    notes: count('note'),
    findings: ORDER.flatMap((severity) => findings.filter((f) => f.severity === severity)),
    checks: [...new Set([...RULES, TASK_CHECK, { code: COPIES }, ...TOKEN_CHECKS].map((c) => c.code))],
  };
}
