import { compare } from '../inspect/compare.ts';
import type { Description } from '../schema/describe.ts';
import { TurnwiseError } from '../schema/error.ts';
import type { Report } from '../schema/report.ts';
import type { Store } from '../store/store.ts';

/** A report compares the policy with most episodes with so many others. */
const MOST = 4;

/**
 * The named policies of a store paired by task: the one with most episodes against each of the next. Where two
 * share no task the reason stands in place of a comparison.
 */
export async function policyComparisons(
  store: Store,
  policies: Description['policies'],
): Promise<Report['comparisons']> {
  const [first, ...others] = policies.flatMap((p) => (p.policy === null ? [] : [p.policy]));
  const out: Report['comparisons'] = [];
  for (const other of others.slice(0, MOST)) {
    try {
      out.push({ a: first!, b: other, comparison: await compare(store, first!, other), refused: null });
    } catch (error) {
      if (!(error instanceof TurnwiseError)) throw error;
      out.push({ a: first!, b: other, comparison: null, refused: error.message });
    }
  }
  return out;
}
