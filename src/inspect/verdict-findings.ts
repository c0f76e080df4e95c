import type { AuditFinding } from '../schema/audit.ts';
import type { Finding } from '../schema/check.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { Measure } from '../weights/ratios.ts';
import { checkCopies } from './check-copies.ts';
import { EPISODE_RULES } from './check-episodes.ts';
import { REJECT_RULES } from './check-rejects.ts';
import { STRUCTURE_RULES } from './check-structure.ts';
import { TURN_RULES } from './check-turns.ts';
import { EFFECTS, effectOf } from './finding-effects.ts';
import { runRule } from './rule.ts';

/** What `check` finds in a store that a verdict may rest on, before it is known by which measure. */
export interface StoreFindings {
  readonly findings: readonly Finding[];
  readonly episodes: number;
  readonly turns: number;
}

const RULES = [...REJECT_RULES, ...STRUCTURE_RULES, ...EPISODE_RULES, ...TURN_RULES].filter(
  ({ code }) => EFFECTS[code] !== undefined,
);

/** Only the rules that can change a verdict are run, one query each. */
export async function storeFindings(store: Store): Promise<StoreFindings> {
  const [sizes] = await queryRows(
    store,
    'SELECT (SELECT count(*) FROM episodes) AS episodes, (SELECT count(*) FROM turns) AS turns',
  );
  const findings: Finding[] = [];
  for (const rule of RULES) {
    const finding = await runRule(store, rule);
    if (finding !== null) findings.push(finding);
  }
  findings.push(...(await checkCopies(store)));
  return { findings, episodes: sizes!.episodes as number, turns: sizes!.turns as number };
}

/** Each with what it makes of a verdict by this measure, the worst first. */
export function auditFindings(
  { findings, episodes, turns }: StoreFindings,
  measure: Measure,
): AuditFinding[] {
  const out = findings.map(({ code, message, count, fix }): AuditFinding => {
    const { of, because } = EFFECTS[code]!;
    const share = Math.min(1, count / Math.max(1, of === 'episodes' ? episodes : turns));
    return { code, effect: effectOf(code, share, measure), message, because, count, share, of, fix };
  });
  const order = ['refused', 'weak', 'nothing'];
  return out.sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect));
}
