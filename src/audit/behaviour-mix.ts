import type { Warning } from '../schema/warning.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

const SHOWN = 5;

/** That several policies made the logs: a target is then weighed against each turn's own, and compared with all of them together. */
export function behaviourMix(policies: readonly string[]): Warning[] {
  if (policies.length < 2) return [];
  const names = [...policies].sort().slice(0, SHOWN).join(', ');
  return [
    {
      code: 'several-behaviours',
      message: `the behaviour is a mix of ${policies.length} policies (${names}${policies.length > SHOWN ? ', …' : ''}): the logged value is of all of them together; --policy NAME takes some`,
      count: policies.length,
      column: 'policy',
    },
  ];
}

/** Names of the policies that acted in a view. */
export function actingPolicies(t: Trajectories): string[] {
  const { codes, values } = t.episodes.policy;
  const seen = new Set<number>();
  for (const e of t.index) if (codes[e]! >= 0) seen.add(codes[e]!);
  return [...seen].map((code) => values[code]!);
}
