/**
 * Cross-fitted ridge: fold m is predicted by a fit on the other folds, with λ chosen by leave-fold-out
 * error among those other folds alone (nested), so that a held-out fold never helps to choose its λ.
 *
 *   training sums of fold m         S − S_m
 *   inner sums for the pair (m, j)  S − S_m − S_j, error on fold j → λ of m, error on fold m → λ of j
 *
 * The sums are added up once; every fit after that costs p³ and reads no data.
 */
import { least } from '../math/extremes.ts';
import { addGrams, type Gram, squaredError, subtractGrams } from './gram.ts';
import { type LinearFit, type RidgeSystem, ridgeSystem, type Scale, solveRidge } from './ridge.ts';

export interface CrossFitConfig {
  /** A number is λ itself; 'auto' chooses from `grid`. */
  readonly lambda: number | 'auto';
  /** Multiples of the number of training rows: λ = g · n. Ascending. */
  readonly grid: readonly number[];
  readonly scale: Scale;
}

/** The fit that predicts one fold. */
export interface FoldFit extends LinearFit {
  readonly responses: Int32Array; // which responses `coefficients` are of
  readonly lambda: Float64Array; // [responses]
  readonly system: RidgeSystem;
}

export interface CrossFit {
  readonly folds: readonly FoldFit[]; // [K]
  /** Fits in which the system was singular. */
  readonly singular: number;
}

/**
 * @param folds [K] sums of each fold; at least two hold rows
 * @param responsesOf the responses fold m is to be predicted for
 */
export function crossFit(
  folds: readonly Gram[],
  config: CrossFitConfig,
  responsesOf: (fold: number) => Int32Array,
): CrossFit {
  const total = folds.reduce(addGrams);
  const chosen = folds.map((_, m) => responsesOf(m).map(() => 0));
  if (config.lambda === 'auto') chooseAll(total, folds, config, responsesOf, chosen);
  let singular = 0;
  const fits = folds.map((gram, m): FoldFit => {
    const training = subtractGrams(total, gram);
    const system = ridgeSystem(training, config.scale);
    const responses = responsesOf(m);
    const lambda = Float64Array.from(chosen[m]!, (g) =>
      config.lambda === 'auto' ? config.grid[g]! * training.n : config.lambda,
    );
    const intercept = new Float64Array(responses.length);
    const coefficients: Float64Array[] = new Array(responses.length);
    let lost = false;
    for (const value of new Set(lambda)) {
      const at = [...responses.keys()].filter((i) => lambda[i] === value);
      const fit = solveRidge(
        system,
        value,
        at.map((i) => responses[i]!),
      );
      lost ||= fit.singular;
      at.forEach((i, k) => {
        intercept[i] = fit.intercept[k]!;
        coefficients[i] = fit.coefficients[k]!;
      });
    }
    if (lost) singular++;
    return { responses, lambda, system, intercept, coefficients, singular: lost };
  });
  return { folds: fits, singular };
}

/** λ is left at the middle of the grid where fewer than three folds hold rows: nothing to choose it on. */
export function canChoose(folds: readonly Gram[]): boolean {
  return folds.filter((f) => f.n > 0).length >= 3;
}

/** Fills `chosen[m][i]` with the place in the grid for response i of fold m. */
function chooseAll(
  total: Gram,
  folds: readonly Gram[],
  config: CrossFitConfig,
  responsesOf: (fold: number) => Int32Array,
  chosen: Int32Array[],
): void {
  const { grid, scale } = config;
  if (!canChoose(folds)) {
    for (const c of chosen) c.fill(grid.length >> 1);
    return;
  }
  const errors = folds.map((_, m) => new Float64Array(responsesOf(m).length * grid.length));
  for (let m = 0; m < folds.length; m++)
    for (let j = 0; j < m; j++) {
      if (folds[m]!.n === 0 && folds[j]!.n === 0) continue;
      const inner = subtractGrams(subtractGrams(total, folds[m]!), folds[j]!);
      if (inner.n === 0) continue;
      const system = ridgeSystem(inner, scale);
      const ofM = responsesOf(m);
      const ofJ = responsesOf(j);
      const both = [...new Set([...ofM, ...ofJ])];
      for (let g = 0; g < grid.length; g++) {
        const fit = solveRidge(system, grid[g]! * inner.n, both);
        addErrors(errors[m]!, g, grid.length, ofM, both, fit, folds[j]!);
        addErrors(errors[j]!, g, grid.length, ofJ, both, fit, folds[m]!);
      }
    }
  for (let m = 0; m < folds.length; m++)
    for (let i = 0; i < chosen[m]!.length; i++)
      chosen[m]![i] = best(errors[m]!.subarray(i * grid.length, (i + 1) * grid.length));
}

function addErrors(
  into: Float64Array,
  g: number,
  size: number,
  responses: Int32Array,
  solved: readonly number[],
  fit: LinearFit,
  heldOut: Gram,
): void {
  if (heldOut.n === 0) return;
  for (let i = 0; i < responses.length; i++) {
    const k = solved.indexOf(responses[i]!);
    const at = i * size + g;
    into[at] = into[at]! + squaredError(heldOut, responses[i]!, fit.intercept[k]!, fit.coefficients[k]!);
  }
}

/** The least error; the larger λ where two agree but for rounding. */
function best(errors: Float64Array): number {
  const lowest = least(errors);
  for (let g = errors.length - 1; g >= 0; g--) if (errors[g]! <= lowest * (1 + 1e-9)) return g;
  return errors.length - 1;
}
