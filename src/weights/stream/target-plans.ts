import { existsSync } from 'node:fs';
import type { PolicyFile } from '../../policy/policy-file.ts';
import { readPolicyFile } from '../../policy/read-policy-file.ts';
import type { TrainedOn } from '../../schema/trained-on.ts';
import type { Warning } from '../../schema/warning.ts';
import { queryRows } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import type { Trajectories } from '../../trajectories/trajectories.ts';
import { filterEpisodes } from '../../trajectories/view.ts';
import { columnName } from '../behaviour-column.ts';
import { otherMeasure, unknownTarget } from '../from-scores.ts';
import { type HeldOut, heldOut } from '../held-out.ts';
import type { Measure } from '../ratios.ts';
import { actedPolicies, readSources, scoredPolicies, scoredTrainedOn } from '../scores.ts';
import { type TargetPlan, thereSql } from './plan.ts';
import { scoreRows } from './score-cursor.ts';
import { type StoreCoverage, sourcesWithout } from './store-coverage.ts';
import { inOrder } from './turn-blocks.ts';

/** One way to read a target: a measure that both policies may have, the episodes it leaves, what was noticed. */
export interface Candidate {
  readonly plan: TargetPlan;
  readonly held: HeldOut;
  readonly warnings: readonly Warning[];
}

/** A target and the ways to read it, best first; none where the logs lack the measure it needs. */
export interface NamedTarget {
  readonly name: string;
  readonly trainedOn: TrainedOn;
  /** What the target itself says of its training. */
  readonly declared: TrainedOn;
  readonly kind: TargetPlan['kind'];
  readonly candidates: readonly Candidate[];
  /** Kinds (raw, processed, null) of its recorded log-probabilities. */
  readonly kinds: readonly (string | null)[];
}

/**
 * The targets of a scan: policies with recorded scores, else paths of policy files.
 * @param list all episodes, without turns
 * @throws a usage error where a name is neither
 */
export async function namedTargets(
  store: Store,
  list: Trajectories,
  names: readonly string[],
  coverage: StoreCoverage,
  trainedOn?: TrainedOn,
): Promise<NamedTarget[]> {
  const recorded = await scoredPolicies(store);
  const sources = await readSources(store);
  const measures = (['logprob', 'log_propensity'] as const).flatMap((measure) => {
    const without = sourcesWithout(coverage, measure);
    return without === null ? [] : [{ measure, ...withoutSources(list, without, measure) }];
  });
  const out: NamedTarget[] = [];
  for (const name of names) {
    if (recorded.includes(name)) {
      const declared = await scoredTrainedOn(store, name);
      const trained = trainedOn ?? declared;
      const { counts, segments, kinds } = await scoreCounts(store, name);
      const scored = (['logprob', 'log_propensity'] as const).filter((m) => counts[m] > 0);
      const logged = measures.map((m) => m.measure);
      if (scored.length > 0 && logged.length > 0 && !scored.some((m) => logged.includes(m)))
        throw otherMeasure(name, scored, logged);
      const ordered = await inOrder(store, scoreRows(segments), [name]);
      const own = (await actionClasses(store)).classes;
      out.push({
        name,
        trainedOn: trained,
        declared,
        kind: 'scores',
        kinds,
        // Where it has scores in neither, the scan finds none and says so.
        candidates: (measures.some(({ measure }) => counts[measure] > 0)
          ? measures.filter(({ measure }) => counts[measure] > 0)
          : measures
        ).map(({ measure, view, warnings }) => ({
          plan: {
            kind: 'scores',
            policy: name,
            measure,
            segments,
            ordered,
            classes: measure === 'log_propensity' ? own : [],
          },
          held: heldOut(view, trained, sources),
          warnings,
        })),
      });
      continue;
    }
    if (!existsSync(name)) throw unknownTarget(name, recorded, await actedPolicies(store));
    const file = readPolicyFile(name);
    const trained = trainedOn ?? file.trained_on;
    const { classes, logged } = await actionClasses(store, file);
    out.push({
      name: file.policy,
      trainedOn: trained,
      declared: file.trained_on,
      kind: 'file',
      kinds: [],
      candidates: measures
        .filter(({ measure }) => measure === 'log_propensity')
        .map(({ view, warnings }) => ({
          plan: { kind: 'file', file, measure: 'log_propensity', classes, logged },
          held: heldOut(view, trained, sources),
          warnings,
        })),
    });
  }
  return out;
}

function withoutSources(list: Trajectories, without: ReadonlySet<number>, measure: Measure) {
  const view = filterEpisodes(list, (e) => !without.has(list.episodes.source[e]!));
  const dropped = list.index.length - view.index.length;
  const warning: Warning = {
    code: 'source-without-behaviour',
    message: `${dropped} of ${list.index.length} episodes are left out: their ${without.size === 1 ? 'source logs' : 'sources log'} no ${columnName(measure)}`,
    count: dropped,
    column: columnName(measure),
  };
  return { view, warnings: dropped === 0 ? [] : [warning] };
}

async function scoreCounts(store: Store, policy: string) {
  const rows = await queryRows(
    store,
    `SELECT logprob_kind, count(*) FILTER (WHERE ${thereSql('logprob')}) AS logprob, count(*) FILTER (WHERE ${thereSql('log_propensity')}) AS propensity, count(*) FILTER (piece = 0) AS segments
     FROM scores WHERE policy = $1 GROUP BY logprob_kind ORDER BY logprob_kind`,
    [policy],
  );
  const total = (column: string) => rows.reduce((n, row) => n + (row[column] as number), 0);
  const segments = total('segments') > 0;
  return {
    segments,
    counts: { logprob: total('logprob') + total('segments'), log_propensity: total('propensity') },
    kinds: rows
      .filter((row) => (row.logprob as number) + (row.segments as number) > 0)
      .map((row) => row.logprob_kind as string | null),
  };
}

/** Classes of the logs in order of appearance, then those that only the target names. */
async function actionClasses(store: Store, file?: PolicyFile) {
  const rows = await queryRows(
    store,
    `SELECT action_class FROM turns WHERE action_class IS NOT NULL
     GROUP BY action_class ORDER BY min({'episode': episode, 'turn': turn})`,
  );
  const logged = rows.map((row) => row.action_class as string);
  const all = [...new Set([...logged, ...(file?.rules ?? []).flatMap((r) => Object.keys(r.probabilities))])];
  return { classes: all, logged: logged.length };
}
