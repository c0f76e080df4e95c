/*
 * Cross-fitting of action values (Chernozhukov et al. 2018; Zheng & van der Laan 2011): whole tasks are
 * dealt to folds, the whole backward pass is fitted on the others, and a fold's episodes are scored by
 * a fit that has seen none of their tasks. Then DR keeps its mean whatever the fit.
 */
import type { QColumns } from '../schema/q-values.ts';
import { foldsByTask } from '../trajectories/split.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';

/** Fits Q̂ on the episodes at these places among those of the weights. */
export type FitQ = (train: Int32Array) => QColumns;

export interface CrossFitOptions {
  readonly folds?: number;
  readonly seed?: number;
}

/**
 * Q̂ of every episode from a fit on the tasks of the other folds. `folds` fits, and O(S + rows · A)
 * beside them; only rows that a fold uses are kept.
 * @throws with fewer tasks than folds
 */
export function crossFitQ(
  w: EpisodeWeights,
  fit: FitQ,
  { folds = 5, seed = 0 }: CrossFitOptions = {},
): QColumns {
  const { n, offsets, trajectories } = w;
  const { index, episodeOffsets, turns } = trajectories;
  const foldOf = foldsByTask(trajectories, folds, seed);
  const places = (keep: (fold: number) => boolean): Int32Array => {
    const out: number[] = [];
    for (let i = 0; i < n; i++) if (keep(foldOf[i]!)) out.push(i);
    return Int32Array.from(out);
  };
  const row = new Int32Array(turns.turn.length).fill(-1);
  const parts: { readonly from: QColumns; readonly rows: readonly number[] }[] = [];
  let R = 0;
  for (let f = 0; f < folds; f++) {
    const from = fit(places((g) => g !== f));
    const known = new Int32Array(from.q.length / from.classes.length).fill(-1);
    const rows: number[] = [];
    for (const i of places((g) => g === f)) {
      const first = episodeOffsets[index[i]!]!;
      for (let s = first; s < first + offsets[i + 1]! - offsets[i]!; s++) {
        const x = from.row[s]!;
        if (x < 0) continue;
        if (known[x]! < 0) {
          known[x] = R++;
          rows.push(x);
        }
        row[s] = known[x]!;
      }
    }
    parts.push({ from, rows });
  }

  const { classes, continues, label } = parts[0]!.from;
  const A = classes.length;
  const q = new Float64Array(R * A);
  const unseen = new Uint8Array(R * A);
  let at = 0;
  for (const { from, rows } of parts)
    for (const x of rows) {
      q.set(from.q.subarray(x * A, (x + 1) * A), at);
      if (from.unseen !== null) unseen.set(from.unseen.subarray(x * A, (x + 1) * A), at);
      at += A;
    }
  return { classes, q, row, unseen, continues, label: `${label}, cross-fitted by task in ${folds} folds` };
}
