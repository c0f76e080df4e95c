import {
  ACTIONS,
  HORIZON,
  NEXT,
  QUALITIES,
  START,
  SUBMIT,
  SUCCESS,
  TOOL_AGENT_POLICIES,
  type ToolAgentPolicy,
  TURN_REWARD,
} from './tool-agent-law.ts';

/** What is exactly true of one policy π in the tool-agent world, logged by b. Turns count from 0. */
export interface ToolAgentExact {
  /** V^π = Σ_q P(q₀ = q) V₀(q). */
  readonly value: number;
  readonly v: readonly (readonly number[])[]; // [turn][q]
  readonly q: readonly (readonly (readonly number[])[])[]; // [turn][q][action]
  readonly advantage: readonly (readonly (readonly number[])[])[]; // Q − V, [turn][q][action]
  /** P(the episode reaches this turn), under π, [turn]. */
  readonly alive: readonly number[];
  /** E_b[ρ²] after each turn, ended episodes carrying their last ratio, [turn]. */
  readonly rho2Carried: readonly number[];
  /** E_b[ρ² 1(turn t is taken)], [turn]. */
  readonly rho2Alive: readonly number[];
  /** 1 / E_b[ρ²], carried: the effective share of the sample, [turn]. */
  readonly essFraction: readonly number[];
  /** KL(π ‖ b) of whole episodes, in nats; ∞ where π does what b never does. */
  readonly kl: number;
  /** Variance of one episode's contribution ρ G; the estimator's is this over n. */
  readonly varianceIs: number;
  /** Variance of one episode's Σ_t ρ_t r_t. */
  readonly variancePdis: number;
  /** Efficiency bounds: without the Markov assumption, and with it (Kallus and Uehara 2020). */
  readonly boundNmdp: number;
  readonly boundMdp: number;
}

/**
 * Exact by dynamic programming in O(H · q² · a), γ = 1. With ρ_t = π(a_t|q_t) / b(a_t|q_t):
 *   Q_t(q, a) = r(a) + Σ_q′ P(q′|q, a) V_{t+1}(q′),  V_t(q) = Σ_a π(a|q) Q_t(q, a)
 *   second moments backwards, over what is left of the episode from turn t:
 *     M⁰ = E[w²],  M¹ = E[w² G],  M² = E[w² G²]   where w = ∏ ρ,
 *     D  = Σ_k ρ_{t:k} r_k = ρ_t (r_t + D′),  E[D²] = E[ρ_t² (r_t² + 2 r_t E[D′] + E[D′²])]
 */
export function toolAgentExact(
  policy: ToolAgentPolicy,
  logged: ToolAgentPolicy = TOOL_AGENT_POLICIES.behaviour,
): ToolAgentExact {
  const { v, q } = backup(policy);
  const value = dot(START, v[0]!);
  const moments = secondMoments(policy, logged, v);
  const ratios = forward(policy, logged, v, value);
  return {
    value,
    v,
    q,
    advantage: q.map((row, t) => row.map((qs, s) => qs.map((x) => x - v[t]![s]!))),
    alive: occupancy(policy).map((d) => d.reduce((sum, x) => sum + x, 0)),
    ...ratios,
    essFraction: ratios.rho2Carried.map((x) => 1 / x),
    kl: divergence(policy, logged),
    varianceIs: moments.is - value * value,
    variancePdis: moments.pdis - value * value,
  };
}

function backup(policy: ToolAgentPolicy): { v: number[][]; q: number[][][] } {
  const v: number[][] = [];
  const q: number[][][] = [];
  for (let t = HORIZON - 1; t >= 0; t--) {
    const after = v[t + 1];
    q[t] = states((s) =>
      ACTIONS.map((_, a) => (a === SUBMIT ? SUCCESS[s]! : TURN_REWARD[a]! + mean(a, s, after))),
    );
    v[t] = states((s) => dot(policy(t, s), q[t]![s]!));
  }
  return { v, q };
}

/** Uncentred second moments of ρ G and of Σ_t ρ_t r_t from the start. */
function secondMoments(policy: ToolAgentPolicy, logged: ToolAgentPolicy, v: readonly (readonly number[])[]) {
  let m0: number[] | undefined;
  let m1: number[] | undefined;
  let m2: number[] | undefined;
  let d2: number[] | undefined;
  for (let t = HORIZON - 1; t >= 0; t--) {
    const last = t === HORIZON - 1;
    const [n0, n1, n2, nd] = [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ] as number[][];
    for (let s = 0; s < QUALITIES; s++) {
      for (let a = 0; a < ACTIONS.length; a++) {
        const w = weight(policy, logged, t, s, a);
        if (w === 0) continue;
        const r = TURN_REWARD[a]!;
        const e0 = a === SUBMIT || last ? 1 : mean(a, s, m0);
        const e1 = a === SUBMIT ? SUCCESS[s]! : mean(a, s, m1); // after a submission G is 0 or 1
        const e2 = a === SUBMIT ? SUCCESS[s]! : mean(a, s, m2);
        n0![s]! += w * e0;
        n1![s]! += w * (r * e0 + e1);
        n2![s]! += w * (r * r * e0 + 2 * r * e1 + e2);
        nd![s]! += w * (a === SUBMIT ? SUCCESS[s]! : r * r + 2 * r * mean(a, s, v[t + 1]) + mean(a, s, d2));
      }
    }
    [m0, m1, m2, d2] = [n0, n1, n2, nd];
  }
  return { is: dot(START, m2!), pdis: dot(START, d2!) };
}

/** Second moments of the ratios turn by turn, and the two efficiency bounds. */
function forward(
  policy: ToolAgentPolicy,
  logged: ToolAgentPolicy,
  v: readonly (readonly number[])[],
  value: number,
) {
  const reachedTarget = occupancy(policy);
  const reachedLogged = occupancy(logged);
  let m = [...START]; // E_b[ρ²_{before t} 1(alive, q_t = q)]
  let stopped = 0;
  let boundNmdp = START.reduce((sum, p, s) => sum + p * (v[0]![s]! - value) ** 2, 0);
  let boundMdp = boundNmdp;
  const rho2Alive: number[] = [];
  const rho2Carried: number[] = [];
  for (let t = 0; t < HORIZON; t++) {
    const next = [0, 0, 0];
    let alive = 0;
    for (let s = 0; s < QUALITIES; s++) {
      for (let a = 0; a < ACTIONS.length; a++) {
        const w = weight(policy, logged, t, s, a); // b ρ²
        if (w === 0) continue;
        const spread = conditionalVariance(t, s, a, v);
        boundNmdp += m[s]! * w * spread;
        const seen = reachedLogged[t]![s]!;
        if (seen > 0) boundMdp += (reachedTarget[t]![s]! ** 2 / seen) * w * spread;
        alive += m[s]! * w;
        if (a === SUBMIT) stopped += m[s]! * w;
        else for (let k = 0; k < QUALITIES; k++) next[k]! += m[s]! * w * NEXT[a]![s]![k]!;
      }
    }
    m = next;
    rho2Alive.push(alive);
    rho2Carried.push(stopped + m.reduce((sum, x) => sum + x, 0));
  }
  return { rho2Alive, rho2Carried, boundNmdp, boundMdp };
}

/** Var(r_t + V_{t+1} | q_t = s, a_t = a). */
function conditionalVariance(t: number, s: number, a: number, v: readonly (readonly number[])[]): number {
  if (a === SUBMIT) return SUCCESS[s]! * (1 - SUCCESS[s]!);
  const after = v[t + 1];
  if (after === undefined) return 0;
  const centre = mean(a, s, after);
  return NEXT[a]![s]!.reduce((sum, p, k) => sum + p * (after[k]! - centre) ** 2, 0);
}

/** P(alive at t, q_t = q) under a policy, [turn][q]. */
function occupancy(policy: ToolAgentPolicy): number[][] {
  const d = [[...START]];
  for (let t = 0; t + 1 < HORIZON; t++) {
    const next = [0, 0, 0];
    for (let s = 0; s < QUALITIES; s++)
      for (let a = 0; a < SUBMIT; a++)
        for (let k = 0; k < QUALITIES; k++) next[k]! += d[t]![s]! * policy(t, s)[a]! * NEXT[a]![s]![k]!;
    d.push(next);
  }
  return d;
}

/** Σ_t E_π[log π/b], turn by turn. */
function divergence(policy: ToolAgentPolicy, logged: ToolAgentPolicy): number {
  let total = 0;
  occupancy(policy).forEach((d, t) => {
    for (let s = 0; s < QUALITIES; s++)
      for (let a = 0; a < ACTIONS.length; a++) {
        const p = policy(t, s)[a]!;
        if (d[s]! > 0 && p > 0) total += d[s]! * p * Math.log(p / logged(t, s)[a]!);
      }
  });
  return total;
}

/** b(a|s) ρ² = π² / b. */
function weight(policy: ToolAgentPolicy, logged: ToolAgentPolicy, t: number, s: number, a: number): number {
  const p = policy(t, s)[a]!;
  return p === 0 ? 0 : (p * p) / logged(t, s)[a]!;
}

const states = <T>(f: (s: number) => T): T[] => Array.from({ length: QUALITIES }, (_, s) => f(s));
const dot = (x: readonly number[], y: readonly number[]): number =>
  x.reduce((sum, xi, i) => sum + xi * y[i]!, 0);
/** E[f(q′) | s, a]; 0 after the last turn. */
const mean = (a: number, s: number, f: readonly number[] | undefined): number =>
  f ? dot(NEXT[a]![s]!, f) : 0;
