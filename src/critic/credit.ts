import { type Copies, copiesIn } from '../inspect/check-copies.ts';
import { simulatedWarnings } from '../inspect/simulated.ts';
import { ActionPart } from '../schema/action-config.ts';
import type { Credit, EpisodeCredit } from '../schema/credit.ts';
import type { CriticConfigInput } from '../schema/critic-config.ts';
import { failure } from '../schema/error.ts';
import { StatePart } from '../schema/state-config.ts';
import type { Store } from '../store/store.ts';
import { withActionHistory } from '../trajectories/action-history.ts';
import { actionFeatures } from '../trajectories/actions.ts';
import { type FittedOn, fittedOn } from '../trajectories/fitted-on.ts';
import { loadTrajectories } from '../trajectories/load.ts';
import { stateFeatures } from '../trajectories/states.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { type CriticFit, type CriticProgress, fitCriticSlowly } from './critic.ts';
import { turnMarks } from './marks.ts';

export interface CreditOptions {
  readonly critic?: CriticConfigInput | undefined;
  /** Only the episodes of these policies. */
  readonly policies?: readonly string[] | undefined;
  /** Columns the hashed n-grams of the texts fall into; 0: none. Absent: the default of the features. */
  readonly ngrams?: number | undefined;
  /** Called once the columns are there, before any work. */
  readonly onStart?: ((t: Trajectories) => void) | undefined;
  readonly onProgress?: ((progress: CriticProgress) => void) | undefined;
}

/** A critic and what it was fitted on. */
export interface CreditRun {
  readonly t: Trajectories;
  readonly fit: CriticFit;
  /** The episodes, as they were before the columns were loaded. */
  readonly on: FittedOn;
  /** As in the options. */
  readonly ngrams: number | undefined;
}

/** What every turn in a store was worth, as `turnwise credit --json` prints it. */
export async function credit(store: Store, options: CreditOptions = {}): Promise<Credit> {
  return creditOf(await runCritic(store, options));
}

/** Loads the store, forms states and actions, fits the critic. Memory: columns and features. */
export async function runCritic(store: Store, options: CreditOptions = {}): Promise<CreditRun> {
  const on = await fittedOn(store, options.policies ?? null);
  const t = await loadTrajectories(store, { policies: options.policies });
  options.onStart?.(t);
  const { ngrams } = options;
  const dims = ngrams === undefined || ngrams === 0 ? {} : { ngramDims: ngrams };
  const without = <P extends string>(parts: readonly P[]): P[] =>
    parts.filter((part) => part !== 'ngrams' || ngrams !== 0);
  const observed = await stateFeatures(store, t, { ...dims, include: without(StatePart.options) });
  const actions = await actionFeatures(store, t, { ...dims, include: without(ActionPart.options) });
  const states = withActionHistory(t, observed, actions);
  const fit = await fitCriticSlowly(t, states, actions, options.critic ?? {}, options.onProgress);
  const copies = await copiesIn(store);
  const judged = copies === null ? fit : unmarked(fit, copies);
  const warnings = [...judged.report.warnings, ...(await simulatedWarnings(store))];
  return { t, fit: { ...judged, report: { ...judged.report, warnings } }, on, ngrams };
}

/** Copies under other tasks lie in other folds: held-out errors and contrasts then see what they were fitted on. */
function unmarked(fit: CriticFit, { extra, episodes }: Copies): CriticFit {
  const message = `${extra} of ${episodes} episodes are copies of others under other tasks: errors are smaller than they should be, and nothing is marked; see turnwise check`;
  const { report } = fit;
  return {
    ...fit,
    report: {
      ...report,
      actions: report.actions.map((a) => ({ ...a, mark: null })),
      warnings: [{ code: 'copied-episodes', message, count: extra }, ...report.warnings],
    },
  };
}

/** The whole result: an object per turn, so for printing, not for computing. */
export function creditOf(run: CreditRun): Credit {
  return { ...run.fit.report, episodes: [...episodeCredits(run)] };
}

/** The valued episodes in the order of the view, one at a time. */
export function* episodeCredits(run: CreditRun): Generator<EpisodeCredit> {
  for (const e of run.t.index) {
    const episode = episodeCredit(run, e);
    if (episode) yield episode;
  }
}

/** The turns of one episode, by its row; null where it was left out of the critic. */
export function episodeCredit({ t, fit }: CreditRun, e: number): EpisodeCredit | null {
  const first = t.episodeOffsets[e]!;
  const end = t.episodeOffsets[e + 1]!;
  if (first === end || fit.rows.place[first]! < 0) return null;
  const { codes, values } = t.episodes.task;
  const turns = Array.from({ length: end - first }, (_, k) => {
    const s = first + k;
    return {
      turn: t.turns.turn[s]!,
      v: fit.v[s]!,
      q: fit.q[s]!,
      advantage: fit.advantage[s]!,
      advantageSe: Number.isNaN(fit.advantageSe[s]!) ? null : fit.advantageSe[s]!,
      reward: fit.rows.reward[s]!,
      delta: fit.delta[s]!,
      supported: fit.supported[s] === 1,
    };
  });
  const marks = turnMarks(fit.report, turns);
  return {
    episode: t.episodes.id[e]!,
    task: codes[e]! < 0 ? null : values[codes[e]!]!,
    return: fit.rows.returns[fit.rows.place[first]!]!,
    turns: turns.map((turn, k) => ({ ...turn, mark: marks[k]! })),
  };
}

/** Row of an episode in the view, by its id. @throws a usage error (2) that names ids like it */
export function findEpisode(t: Trajectories, id: string): number {
  const row = t.index.find((e) => t.episodes.id[e] === id);
  if (row !== undefined) return row;
  const near = nearest(
    id,
    Array.from(t.index, (e) => t.episodes.id[e]!),
    5,
  );
  throw failure({
    subject: 'episode',
    wrong: 'is not in the store',
    got: `"${id}"`,
    expected:
      near.length > 0
        ? `one like ${near.join(', ')}`
        : `for instance ${Array.from(t.index.subarray(0, 3), (e) => t.episodes.id[e]!).join(', ')}`,
    fix: '`turnwise describe --episodes` lists all of them.',
    exitCode: 2,
  });
}

/** The names closest to one: those that contain it or lie in it, then by number of edits. */
function nearest(name: string, names: readonly string[], n: number): string[] {
  const wanted = name.toLowerCase();
  const scored = names.map((candidate): [number, string] => {
    const c = candidate.toLowerCase();
    const within = wanted !== '' && (c.includes(wanted) || wanted.includes(c));
    return [within ? Math.abs(c.length - wanted.length) / 1000 : edits(wanted, c), candidate];
  });
  return scored
    .filter(([d]) => d <= Math.max(3, wanted.length / 2))
    .sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1))
    .slice(0, n)
    .map(([, candidate]) => candidate);
}

/** Levenshtein's distance. */
function edits(a: string, b: string): number {
  let line = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(line[j]! + 1, next[j - 1]! + 1, line[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    line = next;
  }
  return line[b.length]!;
}
