/*
 * Multinomial logistic regression with an unpenalised intercept, by Newton's method (IRLS; McCullagh
 * & Nelder 1989, chapter 5), optionally with a ridge penalty that treats all classes alike.
 *
 *   p_c(φ) = exp(η_c) / Σ_d exp(η_d),   η_c = β_c0 + φᵀβ_c,   η_0 = 0
 *   minimise −Σ log p_y(φ) + ½ λ Σ_j min_u Σ_c (σ_j β_cj + u)²
 *
 * The inner minimum is what the symmetric penalty Σ_c β_cj² costs when only differences of classes
 * count, so the fit does not depend on which class is the reference. With two classes it is ¼ λ Σ β².
 * λ = 0 is maximum likelihood, the same as a glm.
 *
 * Departures: beyond 120 parameters steps are solved by conjugate gradients, preconditioned by the
 * blocks of single classes (Lin, Weng & Keerthi 2008); columns are centred and scaled inside; a Hessian is kept while the gradient falls
 * tenfold a step (Shamanskii 1967), steps are halved while the objective rises. Columns constant in
 * the training part get the coefficient 0; classes without a row get probability 0. Linearly
 * dependent columns (λ = 0): steps of least norm, `singular` says so. Separated classes (λ = 0): the
 * likelihood has no maximum; the search stops where it no longer rises and `separated` says so.
 */
import type { Warning } from '../schema/warning.ts';
import type { Design } from './design.ts';
import { conjugateGradients } from './logistic-cg.ts';
import { type Rows, trainingRows, workspace } from './logistic-rows.ts';
import { factorise, hessian, type Objective, objective } from './logistic-sums.ts';
import type { Scale } from './ridge.ts';
import { singularWarning } from './ridge.ts';

export interface LogisticConfig {
  /** The λ above, not divided by n. Default 0. */
  readonly lambda?: number;
  readonly scale?: Scale;
  /** Only these rows; absent: all rows with a class. */
  readonly rows?: Int32Array;
  /** Where to begin: a fit of the same classes on similar rows. */
  readonly start?: LogisticFit;
  /** For messages. */
  readonly classNames?: readonly string[];
}

export interface LogisticFit {
  readonly classes: number; // C
  /** [C] 0 for the reference, the first class with a row; −∞ for a class without any. */
  readonly intercept: Float64Array;
  readonly coefficients: readonly Float64Array[]; // [C][p], on the features as given
  readonly lambda: number;
  readonly scale: Scale;
  readonly n: number;
  readonly logLikelihood: number;
  readonly iterations: number;
  readonly converged: boolean;
  readonly separated: boolean;
  readonly singular: boolean;
  readonly warnings: readonly Warning[];
}

const STEPS = 100;
/** Up to this many parameters the whole Hessian is formed; beyond, with a penalty, only its products. */
const DENSE = 120;
/** A step of the standardised coefficients below this ends the search: what is left is smaller still. */
const SMALL = 1e-10;

/**
 * @param y [rows] class of each row, 0 … classes − 1; −1: left out
 * Cost of a step: n · nnz · C; with a new Hessian n · nnz² · C²/4 and (pC)³/3, or beyond 120 parameters
 * n · nnz² · C/2 and C p³/3, and n · nnz · C for each of some ten to thirty products.
 */
export function logistic(
  design: Design,
  y: Int32Array,
  classes: number,
  config: LogisticConfig = {},
): LogisticFit {
  const { lambda = 0, scale = 'unit-sd', start } = config;
  const rows = trainingRows(design, y, classes, scale, config.rows);
  const w = workspace(design, rows);
  let theta = start === undefined ? new Float64Array(w.size) : startFrom(start, rows);
  let at = objective(design, y, rows, w, theta, lambda);
  let factor = null as ReturnType<typeof factorise> | null;
  // Products cost as much with an old Hessian as with a new one.
  const large = lambda > 0 && w.size > DENSE;
  let singular = false;
  let separated = false;
  let converged = w.size === 0;
  let before = Infinity; // the gradient of the last point
  let lastStep = Infinity;
  let iterations = 0;
  let direction = new Float64Array(w.size);
  while (!converged && !separated && iterations < STEPS) {
    iterations++;
    const gradient = largest(at.gradient);
    const fresh = factor === null || large || gradient > 0.1 * before;
    if (fresh)
      factor = large
        ? conjugateGradients(design, rows, w, theta, lambda)
        : factorise(hessian(design, rows, w, theta, lambda));
    if (iterations === 1) singular = factor!.singular;
    before = gradient;
    direction = factor!.solve(at.gradient).map((d) => -d);
    const next = lineSearch((to) => objective(design, y, rows, w, to, lambda), theta, direction, at);
    if (next === null) {
      if (!fresh) {
        factor = null; // the old Hessian points nowhere better; ask a new one
        continue;
      }
      converged = largest(direction) < 1e-6;
      break;
    }
    const step = next.share * largest(direction);
    const gained = at.value - next.at.value;
    theta = next.theta;
    at = next.at;
    converged = step <= SMALL * Math.max(1, largest(theta));
    // Without a maximum every step is about as long as the last, and gains less and less.
    separated =
      lambda === 0 &&
      ((fresh && step > 1e-3 && step > 0.3 * lastStep && gained <= 1e-10 * (at.value + 1e-3)) ||
        (!singular && factor!.singular));
    lastStep = step;
  }
  if (lambda === 0 && !converged && largest(theta) > 10) separated = true;
  if (separated) converged = false;
  return finish(design, rows, theta, at, direction, {
    ...config,
    lambda,
    scale,
    iterations,
    converged,
    separated,
    singular,
  });
}

/** log p_c of a row, [C], into `out`. `indices` and `values` are the caller's buffers. */
export function logProbabilities(
  fit: LogisticFit,
  indices: Int32Array,
  values: Float64Array,
  entries: number,
  out: Float64Array,
): void {
  let top = -Infinity;
  for (let c = 0; c < fit.classes; c++) {
    const beta = fit.coefficients[c]!;
    let eta = fit.intercept[c]!;
    for (let k = 0; k < entries; k++) eta += values[k]! * beta[indices[k]!]!;
    out[c] = eta;
    if (eta > top) top = eta;
  }
  let total = 0;
  for (let c = 0; c < fit.classes; c++) total += Math.exp(out[c]! - top);
  const log = top + Math.log(total);
  for (let c = 0; c < fit.classes; c++) out[c] = out[c]! - log;
}

/** Halves the step while the objective rises; null where no step lowers it. */
function lineSearch(
  value: (theta: Float64Array) => Objective,
  theta: Float64Array,
  direction: Float64Array,
  at: Objective,
): { theta: Float64Array; at: Objective; share: number } | null {
  const rounding = 1e-13 * Math.abs(at.value);
  for (let share = 1; share > 1e-6; share /= 2) {
    const to = theta.map((x, i) => x + share * direction[i]!);
    const next = value(to);
    if (next.value <= at.value + rounding) return { theta: to, at: next, share };
  }
  return null;
}

function startFrom(fit: LogisticFit, rows: Rows): Float64Array {
  const { active, mean, scale, present } = rows;
  const q1 = active.length + 1;
  const theta = new Float64Array((present.length - 1) * q1);
  const reference = present[0]!;
  for (let c = 1; c < present.length; c++) {
    const k = present[c]!;
    let intercept = fit.intercept[k]! - fit.intercept[reference]!;
    for (let a = 0; a < active.length; a++) {
      const beta = fit.coefficients[k]![active[a]!]! - fit.coefficients[reference]![active[a]!]!;
      theta[(c - 1) * q1 + 1 + a] = beta * scale[a]!;
      intercept += beta * mean[a]!;
    }
    theta[(c - 1) * q1] = Number.isFinite(intercept) ? intercept : 0;
  }
  return theta;
}

function finish(
  design: Design,
  rows: Rows,
  theta: Float64Array,
  at: Objective,
  direction: Float64Array,
  done: LogisticConfig & {
    lambda: number;
    scale: Scale;
    iterations: number;
    converged: boolean;
    separated: boolean;
    singular: boolean;
  },
): LogisticFit {
  const { active, mean, scale, present, classes, n } = rows;
  const { lambda, iterations, converged, separated, singular, classNames } = done;
  const q1 = active.length + 1;
  const intercept = new Float64Array(classes).fill(-Infinity);
  const coefficients = Array.from({ length: classes }, () => new Float64Array(design.columns));
  if (present.length > 0) intercept[present[0]!] = 0;
  for (let c = 1; c < present.length; c++) {
    const beta = coefficients[present[c]!]!;
    let sum = theta[(c - 1) * q1]!;
    for (let a = 0; a < active.length; a++) {
      beta[active[a]!] = theta[(c - 1) * q1 + 1 + a]! / scale[a]!;
      sum -= beta[active[a]!]! * mean[a]!;
    }
    intercept[present[c]!] = sum;
  }
  const warnings: Warning[] = [];
  if (singular) warnings.push(singularWarning(1));
  if (separated) {
    const place = direction.reduce((best, d, i) => (Math.abs(d) > Math.abs(direction[best]!) ? i : best), 0);
    const c = present[Math.floor(place / q1) + 1] ?? 0;
    const j = place % q1;
    warnings.push({
      code: 'separated',
      message: `${j === 0 ? 'the features separate' : `"${design.names[active[j - 1]!]}" separates`} class ${classNames?.[c] ?? c} from the others: maximum likelihood has no finite answer, and probabilities of 0 and 1 are put where the logs merely lack counterexamples; use λ > 0`,
    });
  } else if (!converged)
    warnings.push({ code: 'not-converged', message: `no optimum after ${iterations} steps` });
  return {
    classes,
    intercept,
    coefficients,
    lambda,
    scale: done.scale,
    n,
    logLikelihood: at.logLikelihood,
    iterations,
    converged,
    separated,
    singular,
    warnings,
  };
}

const largest = (x: Float64Array): number => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
