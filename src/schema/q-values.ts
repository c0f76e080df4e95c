/**
 * Action values as columns over the turns: Q̂(s, a) = expected reward from this turn on, discounted
 * from this turn, of taking action a now. What a critic hands to the doubly robust estimators.
 */
export interface QColumns {
  /** The declared action set. */
  readonly classes: readonly string[];
  /** [R × A] by row and class; turns that share their values share a row. */
  readonly q: Float64Array;
  /** [S] row of each turn; −1 where the fit has none. */
  readonly row: Int32Array;
  /** [R × A] 1: the fit has seen no such action there, and the value is a stand-in; null: all seen. */
  readonly unseen: Uint8Array | null;
  /** Who acts after this action. */
  readonly continues: 'target' | 'behaviour';
  /** What the fit is, as printed: model, in-sample or cross-fitted, what stands in where nothing was seen. */
  readonly label: string;
}

/**
 * Q̂ together with what follows from it for one target. V is Σ_a π(a | s) Q̂(s, a), never another fit:
 * a V fitted to the behaviour's returns beside this Q̂ would give the behaviour's value.
 */
export interface QValues extends QColumns {
  readonly target: string;
  readonly logged: Float64Array; // [S] Q̂ of the logged action, NaN outside the view
  readonly v: Float64Array; // [S] Σ_a π Q̂, NaN outside the view
}

/**
 * Values of states alone, for actions that cannot be listed (free text). Any fit is allowed, of any
 * policy: it can change the variance of the V-only form and not its mean.
 */
export interface StateValues {
  readonly stateValue: Float64Array; // [S] expected discounted reward from this turn on
  readonly label: string;
}
