import type { Warning } from '../schema/warning.ts';
import type { PolicyFile } from './policy-file.ts';

const SHOWN = 3;

/**
 * The rules that apply at no turn: a misspelled value looks like this. A last rule without conditions
 * is left out: it is there for what the others leave.
 * @param matched whether a rule applied somewhere
 */
export function unmatchedRules({ policy, rules }: PolicyFile, matched: (rule: number) => boolean): Warning[] {
  const idle = rules.flatMap((rule, i) =>
    matched(i) || (i === rules.length - 1 && Object.keys(rule.when).length === 0)
      ? []
      : [`rules[${i}]${inWords(rule.when)}`],
  );
  if (idle.length === 0) return [];
  const more = idle.length > SHOWN ? ` and ${idle.length - SHOWN} more` : '';
  return [
    {
      code: 'rule-never-applies',
      message: `target "${policy}": ${idle.slice(0, SHOWN).join(', ')}${more} ${idle.length === 1 ? 'applies' : 'apply'} at no logged turn`,
      count: idle.length,
    },
  ];
}

function inWords(when: PolicyFile['rules'][number]['when']): string {
  const conditions = Object.entries(when).map(([key, wanted]) => `${key} = ${[wanted].flat().join(' or ')}`);
  return conditions.length === 0 ? '' : ` (${conditions.join(', ')})`;
}
