/**
 * The law of the tool-agent world: an agent improves a draft with cheap edits or costly thinking and
 * decides when to submit it.
 *
 * State q ∈ {0, 1, 2}, the quality of the draft; q₀ uniform on {0, 1}, fixed by the task.
 * Actions, in this order:
 *   cheap   no cost;   q stays ¾, one up ⅛, one down ⅛ (clamped to 0 … 2)
 *   think   −.05;      q stays ½, one up ½ (clamped)
 *   submit  ends the episode with reward 1 with probability ⅒, ½, 9⁄10
 * At most H = 6 turns; turn 6 without a submission ends by the limit, with reward 0. γ = 1.
 */
export const HORIZON = 6;
export const QUALITIES = 3;
export const CHEAP = 0;
export const THINK = 1;
export const SUBMIT = 2;
export const ACTIONS = ['cheap', 'think', 'submit'] as const;

/** P(q₀), [q]. */
export const START: readonly number[] = [1 / 2, 1 / 2, 0];
/** P(reward 1 | submit, q), [q]. */
export const SUCCESS: readonly number[] = [1 / 10, 1 / 2, 9 / 10];
/** Paid after the turn, [action]. */
export const TURN_REWARD: readonly number[] = [0, -1 / 20, 0];
/** P(q′ | q, a) of the two actions that do not end, [action][q][q′]. */
export const NEXT: readonly (readonly (readonly number[])[])[] = [
  [
    [7 / 8, 1 / 8, 0],
    [1 / 8, 3 / 4, 1 / 8],
    [0, 1 / 8, 7 / 8],
  ],
  [
    [1 / 2, 1 / 2, 0],
    [0, 1 / 2, 1 / 2],
    [0, 0, 1],
  ],
];

/** A policy over (turn, q), turns counted from 0: probabilities of cheap, think, submit. */
export type ToolAgentPolicy = (turn: number, q: number) => readonly number[];

const BEHAVIOUR = [
  [2 / 5, 1 / 2, 1 / 10],
  [2 / 5, 3 / 10, 3 / 10],
  [1 / 5, 1 / 5, 3 / 5],
];
const behaviour: ToolAgentPolicy = (_turn, q) => BEHAVIOUR[q]!;
/** Thinks until the draft is good or the last turn, then submits: the best policy of this world. */
const patient: ToolAgentPolicy = (turn, q) => (q === 2 || turn === HORIZON - 1 ? [0, 0, 1] : [0, 1, 0]);
/** Half behaviour, half patient. */
const soft: ToolAgentPolicy = (turn, q) => {
  const p = patient(turn, q);
  return behaviour(turn, q).map((b, a) => (b + p[a]!) / 2);
};
/** Submits at once. */
const eager: ToolAgentPolicy = () => [0, 0, 1];

/** The policies that have a name. */
export const TOOL_AGENT_POLICIES = { behaviour, patient, soft, eager } as const;
export type ToolAgentPolicyName = keyof typeof TOOL_AGENT_POLICIES;
