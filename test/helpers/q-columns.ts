import { Episode } from '../../src/schema/episode.ts';
import type { QColumns } from '../../src/schema/q-values.ts';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import type { Trajectories } from '../../src/trajectories/trajectories.ts';
import type { Nuisances } from '../../src/value/nuisances.ts';
import { episodeQ } from '../../src/value/nuisances.ts';
import { qValues } from '../../src/value/q-values.ts';
import type { EpisodeWeights } from '../../src/weights/episode-weights.ts';
import type { LogRatios } from '../../src/weights/ratios.ts';

/** Q as a function of the turn (from 0), its features and the action, one row a turn. */
export function columnsBy(
  t: Trajectories,
  classes: readonly string[],
  f: (turn: number, features: Float64Array, action: string, row: number) => number,
): QColumns {
  const S = t.turns.turn.length;
  const q = new Float64Array(S * classes.length);
  for (let s = 0; s < S; s++) {
    const { offsets, values } = t.features ?? { offsets: new Int32Array(S + 1), values: new Float64Array() };
    const x = values.subarray(offsets[s]!, offsets[s + 1]!);
    classes.forEach((a, k) => {
      q[s * classes.length + k] = f(t.turns.turn[s]!, x, a, s);
    });
  }
  const row = Int32Array.from({ length: S }, (_, s) => s);
  return { classes, q, row, unseen: null, continues: 'target', label: 'given' };
}

/** What the doubly robust estimators are given of these columns. */
export const given = (ratios: LogRatios, w: EpisodeWeights, columns: QColumns): Nuisances => ({
  q: episodeQ(ratios, w, qValues(ratios, columns)),
});

/** A logged turn with the target's and the model's view of it. */
export interface LoggedTurn {
  readonly a: string;
  readonly b: number;
  readonly r: number;
  readonly pi: Readonly<Record<string, number>>;
  readonly q: Readonly<Record<string, number>>;
  /** Cell of the declared abstraction; absent: one of its own. */
  readonly cell?: string;
}

/** Log-ratios and Q-columns of episodes; a turn is a cell of its own unless it names one. */
export function targetOf(episodes: readonly (readonly LoggedTurn[])[]): {
  readonly ratios: LogRatios;
  readonly columns: QColumns;
} {
  const turns = episodes.flat();
  const t = trajectoriesFromEpisodes(
    episodes.map((steps, i) =>
      Episode.parse({
        episode_id: `e${i}`,
        ending: 'terminated',
        turns: steps.map(({ a, b, r }) => ({
          reward: r,
          action_class: a,
          behaviour_log_propensity: Math.log(b),
        })),
      }),
    ),
  );
  const logged = t.turns.actionClass.values;
  const classes = [...new Set([...logged, ...turns.flatMap((x) => Object.keys(x.pi))])];
  const names = turns.map((x, s) => x.cell ?? `turn ${s}`);
  const cells = [...new Set(names)];
  const pi = (x: LoggedTurn, a: string) => x.pi[a] ?? 0;
  const ratios: LogRatios = {
    target: 'e',
    measure: 'log_propensity',
    trainedOn: 'none',
    trajectories: t,
    values: Float64Array.from(turns, (x) => Math.log(pi(x, x.a)) - Math.log(x.b)),
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: {
      cell: Int32Array.from(names, (name) => cells.indexOf(name)),
      cells,
      classes,
      probabilities: Float64Array.from(
        cells.flatMap((name) => classes.map((c) => pi(turns[names.indexOf(name)]!, c))),
      ),
    },
  };
  return { ratios, columns: columnsBy(t, classes, (_turn, _x, a, s) => turns[s]!.q[a] ?? Number.NaN) };
}
