import { FEATURES_LOOKED_AT } from '../../diagnostics/propensity-cells.ts';
import { failure } from '../../schema/error.ts';
import type { Warning } from '../../schema/warning.ts';
import { queryRows } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import type { Trajectories } from '../../trajectories/trajectories.ts';
import { columnName } from '../../weights/behaviour-column.ts';
import { percent } from '../../weights/behaviour-coverage.ts';
import { refuseBad } from '../../weights/stream/column-check.ts';
import { evenOverClasses } from '../../weights/stream/even-classes.ts';
import { FLAGS, type ScanPlan, turnColumns } from '../../weights/stream/plan.ts';
import { count, type TurnTable } from '../../weights/stream/store-coverage.ts';
import type { Candidate, NamedTarget } from '../../weights/stream/target-plans.ts';
import { inOrder } from '../../weights/stream/turn-blocks.ts';
import { type ScanRows, scanRows } from './scan-rows.ts';
import { scanners } from './scan-threads.ts';
import { termsOf } from './scanned.ts';
import type { RatioTerms } from './second-pass.ts';
import type { ShardState } from './shard-state.ts';

export interface ScanOptions {
  readonly discount: number;
  readonly threads?: number | undefined;
}

/** What both passes left of one target. */
export interface ScannedTarget {
  readonly candidate: Candidate;
  readonly state: ShardState;
  readonly terms: RatioTerms | null;
  readonly rows: ScanRows;
  /** Place among the targets of `rows`. */
  readonly place: number;
  readonly noticed: readonly Warning[];
}

/** Scans the store twice for all targets; null for one that the logs cannot be read for. */
export async function scanTargets(
  store: Store,
  list: Trajectories,
  table: TurnTable,
  named: readonly NamedTarget[],
  options: ScanOptions,
): Promise<(ScannedTarget | null)[]> {
  const out: (ScannedTarget | null)[] = named.map(() => null);
  const ordered = table.from === 'turns' && (await inOrder(store, 'turns'));
  const features = await featuresRead(store);
  // A measure that turns out not to be on every turn of a target gives way to its next one.
  const attempt = named.map(() => 0);
  const shares: string[][] = named.map(() => []);
  let open = named.flatMap((target, p) => (target.candidates.length > 0 ? [p] : []));
  while (open.length > 0) {
    const candidates = open.map((p) => named[p]!.candidates[attempt[p]!]!);
    const plans = candidates.map((c) => c.plan);
    const turns = { from: table.from, columns: turnColumns(plans, table.logprob, features), ordered };
    const plan: ScanPlan = { turns, targets: plans, discount: options.discount, features };
    const rows = scanRows(
      list,
      candidates.map((c) => maskOf(list, c)),
    );
    const scan = await scanners(store, plan, rows, options);
    try {
      const states = await scan.first(candidates.map((c) => c.held.trajectories.index.length));
      const complete = states.map(({ target: { missing } }) => missing === 0);
      const terms = states.map((state, k) => (complete[k] ? termsOf(state) : null));
      const again: number[] = [];
      for (const [k, p] of open.entries()) {
        const { measure } = plans[k]!;
        if (complete[k]) {
          const noticed = await checked(store, rows, k, named[p]!, candidates[k]!, states[k]!);
          out[p] = {
            candidate: candidates[k]!,
            state: states[k]!,
            terms: terms[k]!,
            rows,
            place: k,
            noticed,
          };
          continue;
        }
        const { missing, turns: all } = states[k]!.target;
        shares[p]!.push(`${measure} on ${percent(1 - missing / all)}`);
        if (++attempt[p]! < named[p]!.candidates.length) again.push(p);
        else throw incomplete(named[p]!, shares[p]!);
      }
      if (terms.some((t) => t !== null)) await scan.second(terms);
      open = again;
    } finally {
      await scan.close();
    }
  }
  return out;
}

/** Features of the turn that has most, as far as they are looked at. */
async function featuresRead(store: Store): Promise<number> {
  const [row] = await queryRows(store, 'SELECT coalesce(max(len(features)), 0)::INTEGER AS n FROM turns');
  return Math.min(row!.n as number, FEATURES_LOOKED_AT);
}

function maskOf(list: Trajectories, { held }: Candidate): Uint8Array {
  const mask = new Uint8Array(list.index.length);
  for (const e of held.trajectories.index) mask[e] = 1;
  return mask;
}

/** Refuses columns that hold no log-probabilities; what else was noticed of them. */
async function checked(
  store: Store,
  rows: ScanRows,
  place: number,
  { name, kinds }: NamedTarget,
  { plan }: Candidate,
  { behaviour, target, flags }: ShardState,
): Promise<Warning[]> {
  const nameOf = async (row: number): Promise<string> => {
    const found = await queryRows(store, 'SELECT episode_id FROM episodes WHERE episode = $1', [
      rows.episode[row]!,
    ]);
    return found[0]!.episode_id as string;
  };
  const column = columnName(plan.measure);
  await refuseBad(behaviour, column, 'behaviour', nameOf);
  const out: Warning[] = [];
  const { view } = rows.targets[place]!;
  const used = (e: number) => view[e] === 1 && !Number.isNaN(rows.returns[e]!);
  if (
    behaviour.turns > 1 &&
    behaviour.least === behaviour.most &&
    !(await evenOverClasses(store, rows.episode, used, behaviour.least))
  )
    out.push({
      code: 'constant-propensity',
      message: `${column} is ${behaviour.least} on all ${behaviour.turns} turns, which looks filled in rather than logged`,
      count: behaviour.turns,
      column,
    });
  if (plan.kind === 'file') return out;
  await refuseBad(target, plan.measure, 'target', nameOf);
  return plan.measure === 'logprob' ? [...out, ...checkKind(name, kinds, flags)] : out;
}

/** Raw against processed is another distribution, not a ratio of 0.9. */
function checkKind(name: string, kinds: readonly (string | null)[], flags: Float64Array): Warning[] {
  const all = flags.reduce((a, b) => a + b, 0);
  const raw = count(flags, FLAGS.raw);
  const processed = count(flags, FLAGS.processed);
  const behaviour: (string | null)[] = [];
  if (raw > 0) behaviour.push('raw');
  if (processed > 0) behaviour.push('processed');
  if (raw + processed < all) behaviour.push(null);
  const say = (found: readonly (string | null)[]) => found.map((kind) => kind ?? 'unknown').join(' and ');
  const known = new Set([...behaviour, ...kinds].filter((kind) => kind !== null));
  if (known.size > 1)
    throw failure({
      subject: `target "${name}"`,
      wrong: 'its log-probabilities and the behaviour’s are not of the same kind',
      got: `behaviour ${say(behaviour)}, target ${say(kinds)}`,
      expected: 'both raw, or both processed with the same sampling parameters',
      fix: 'Score the target the way the behaviour was logged.',
    });
  if (!behaviour.includes(null) && !kinds.includes(null)) return [];
  return [
    {
      code: 'logprob-kind-unknown',
      message:
        'whether log-probabilities are raw or processed is not logged for both policies: a mismatch would look like a difference of policies',
      column: 'logprob_kind',
    },
  ];
}

const incomplete = (target: NamedTarget, shares: readonly string[]) =>
  failure({
    subject: `target "${target.name}"`,
    wrong: 'covers only some turns',
    got: shares.join(', '),
    expected: `${target.candidates.map((c) => c.plan.measure).join(' or ')} on every turn, as the behaviour is logged`,
    fix: 'Score every logged turn under the target, those of unfinished episodes left aside.',
  });
