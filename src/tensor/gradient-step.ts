/*
 * One step of training: value and gradients, clip by the norm over all parameters, AdamW.
 *
 *   n = √(Σ_p ‖g_p‖²)     g ← g · c/max(n, c)
 *
 * The step is computed beside the weights and takes their place only once loss and norm have been read and are finite:
 * one read a step, one graph, and a step that is refused or fails leaves weights, moments and step count as they were.
 * The old weights are the graph's inputs, so that keeping them until then costs nothing.
 *
 * The clip is Algorithm 1 of Pascanu, Mikolov & Bengio (ICML 2013), without departure: up to c the factor is 1 exactly.
 */
import type { Scalar, Tensor, Tensor1D } from '@tensorflow/tfjs';
import { failure } from '../schema/error.ts';
import { known } from '../schema/known.ts';
import { type AdamW, adamwUpdate, stepScalars } from './adamw.ts';
import type { Tensors } from './open-tensors.ts';

export interface StepResult {
  /** Before the step. */
  readonly loss: number;
  /** Over all parameters, before clipping. */
  readonly gradientNorm: number;
  /** Counted from 1. */
  readonly step: number;
  readonly learningRate: number;
}

/**
 * Takes one step down the gradient of `loss`, a function without arguments that returns a scalar.
 * @throws where the loss or a gradient is not finite, or a parameter takes no part in the loss: nothing has changed
 */
export async function gradientStep(
  { tf }: Pick<Tensors, 'tf'>,
  optimiser: AdamW,
  loss: () => Scalar,
  settings: { readonly learningRate?: number | undefined } = {},
): Promise<StepResult> {
  const { learningRate = optimiser.config.learningRate } = known('gradientStep', settings, ['learningRate']);
  const step = optimiser.step + 1;
  const subject = `step ${step}`;
  if (!(learningRate >= 0 && learningRate < Infinity))
    throw failure({
      subject,
      wrong: 'the learning rate is out of range',
      got: learningRate,
      expected: 'a finite number of at least 0',
    });
  if (optimiser.busy)
    throw failure({ subject, wrong: 'the step before has not ended', fix: 'Await each step.' });
  optimiser.busy = true;
  let computed: Computed | undefined;
  try {
    computed = tf.tidy(() => recordStep(tf, optimiser, loss, subject, learningRate));
    const [value, norm, ...squares] = await computed.report.data();
    const names = Object.keys(optimiser.parameters);
    checkFinite(subject, value!, squares, names);
    names.forEach((name, k) => {
      optimiser.parameters[name]!.assign(computed!.theta[k]!);
      optimiser.m[name]!.assign(computed!.m[k]!);
      optimiser.v[name]!.assign(computed!.v[k]!);
    });
    optimiser.step = step;
    return { loss: value!, gradientNorm: norm!, step, learningRate };
  } finally {
    if (computed === undefined) forgetTape(tf);
    else tf.dispose(computed);
    optimiser.busy = false;
  }
}

/** What TensorFlow.js has kept for the way back stays with it where the way there throws: every activation so far. */
function forgetTape(tf: Tensors['tf']): void {
  const { state } = tf.engine();
  if (state.gradientDepth > 0) return;
  for (const node of state.activeTape ?? []) tf.dispose(node.saved ?? []);
  state.activeTape = [];
}

/** Parameters, first and second moments after a step, in the order of the optimiser's names; and its numbers. */
type Computed = {
  theta: Tensor[];
  m: Tensor[];
  v: Tensor[];
  /** [loss, norm, ‖g_p‖² of each parameter] */
  report: Tensor1D;
};

function recordStep(
  tf: Tensors['tf'],
  { parameters, m, v, step, config }: AdamW,
  loss: () => Scalar,
  subject: string,
  learningRate: number,
): Computed {
  const named = Object.entries(parameters);
  const { value, grads } = tf.variableGrads(
    loss,
    named.map(([, variable]) => variable),
  );
  const gradients = named.map(([name, variable]) => {
    const g = grads[variable.name];
    if (g !== undefined) return g;
    throw failure({
      subject,
      wrong: `parameter ${name} takes no part in the loss`,
      fix: 'Leave it out of the optimiser.',
    });
  });
  const squares = tf.stack(gradients.map((g) => tf.sum(tf.square(g)))) as Tensor1D;
  const norm = tf.sqrt(tf.sum(squares)) as Scalar;
  const clip =
    config.maxNorm === null ? null : tf.div(tf.scalar(config.maxNorm), tf.maximum(norm, config.maxNorm));
  const scalars = stepScalars(tf, config, step + 1, learningRate);
  const moved = named.map(([name, theta], k) => {
    const g = clip === null ? gradients[k]! : tf.mul(gradients[k]!, clip);
    const decays = config.decayed === 'all' || theta.rank >= 2;
    return adamwUpdate<Tensor>(tf, { theta, m: m[name]!, v: v[name]!, g, decays }, scalars);
  });
  return {
    theta: moved.map((next) => next.theta),
    m: moved.map((next) => next.m),
    v: moved.map((next) => next.v),
    report: tf.concat([tf.stack([value, norm]) as Tensor1D, squares]),
  };
}

function checkFinite(subject: string, loss: number, squares: readonly number[], names: readonly string[]) {
  if (!Number.isFinite(loss))
    throw failure({
      subject,
      wrong: 'the loss is not finite, and nothing has been changed',
      got: loss,
      fix: 'Look at the rows of this batch, or lower the learning rate.',
    });
  const wrong = names.filter((_, k) => !Number.isFinite(squares[k]));
  if (wrong.length > 0)
    throw failure({
      subject,
      wrong: `the gradient of ${wrong.join(', ')} is not finite or its square is not, and nothing has been changed`,
      got: squares[names.indexOf(wrong[0]!)]!,
      fix: 'Look at the rows of this batch, or lower the learning rate.',
    });
}
