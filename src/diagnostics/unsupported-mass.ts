/*
 * Where a declared target goes that the logs never went.
 *
 *   u(x) = Σ { π(a | x) : the logs show no action of class a in cell x }
 *   mass = Σ_t E_b[w_{t−1} u(x_t)] ≈ (1/n) Σ_i Σ_{t ≤ T_i} w_{i,t−1} u(x_it)
 *
 * the expected number of times per episode that the target leaves the logs, along paths they do
 * show; an upper bound for the chance that it leaves them at all. Only as fine as the declared
 * cells: a state that the target does not look at may hide more.
 */
import type { UnsupportedMass } from '../schema/audit.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';

const SHOWN = 10;

/** The result, and the mass at each turn, [stages]. */
export interface UnsupportedAt {
  readonly summary: UnsupportedMass;
  readonly byTurn: Float64Array | null;
}

export function unsupportedMass({ table }: LogRatios, w: EpisodeWeights): UnsupportedAt {
  if (table === null) {
    const summary = {
      mass: null,
      reason: 'recorded scores give the probability of logged actions only, not of the ones never taken',
      cells: [],
    };
    return { summary, byTurn: null };
  }
  const { n, offsets, weights, shift, trajectories } = w;
  const { episodeOffsets, index, turns } = trajectories;
  const A = table.classes.length;
  const seen = new Uint8Array(table.cells.length * A);
  for (const e of index)
    for (let s = episodeOffsets[e]!; s < episodeOffsets[e + 1]!; s++)
      seen[table.cell[s]! * A + turns.actionClass.codes[s]!] = 1;
  const u = new Float64Array(table.cells.length);
  for (let k = 0; k < seen.length; k++)
    if (seen[k] === 0) u[Math.floor(k / A)] = u[Math.floor(k / A)]! + table.probabilities[k]!;

  const mass = new Float64Array(table.cells.length);
  const byTurn = new Float64Array(w.stages);
  for (let i = 0; i < n; i++) {
    const row = episodeOffsets[index[i]!]!;
    let before = 1; // w_{t−1}
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      const x = table.cell[row + t]!;
      if (u[x]! > 0 && before > 0) {
        mass[x] = mass[x]! + (before * u[x]!) / n;
        byTurn[t] = byTurn[t]! + (before * u[x]!) / n;
      }
      before = weights[s]! * Math.exp(shift[t]!);
    }
  }
  const cells = table.cells
    .map((cell, x) => ({
      cell,
      actions: table.classes.filter((_, a) => seen[x * A + a] === 0 && table.probabilities[x * A + a]! > 0),
      mass: mass[x]!,
    }))
    .filter((c) => c.mass > 0)
    .sort((a, b) => b.mass - a.mass);
  const summary = { mass: mass.reduce((a, b) => a + b, 0), reason: null, cells: cells.slice(0, SHOWN) };
  return { summary, byTurn };
}
