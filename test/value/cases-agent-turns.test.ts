import { expect, test } from 'vitest';
import { describe } from '../../src/inspect/describe.ts';
import { toolAgentExact } from '../../src/simulate/tool-agent-exact.ts';
import { ACTIONS as ORDER, TOOL_AGENT_POLICIES } from '../../src/simulate/tool-agent-law.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { tabularQ } from '../../src/value/tabular-q.ts';
import { type StageSums, stageSums } from '../../src/weights/carried.ts';
import { type EpisodeWeights, episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import values from '../fixtures/agent-turns-values.json' with { type: 'json' };
import law from '../fixtures/tool-agent-exact.json' with { type: 'json' };
import {
  ACTIONS,
  allPaths,
  episodeOf,
  POLICIES,
  policyFile,
  sample,
  trajectoriesOf,
} from '../helpers/agent-turns.ts';
import { storeOf } from '../helpers/store.ts';

const near = (got: number, want: number, by = 1e-12) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );
const H = 6;
const paths = allPaths();
const every = trajectoriesOf(paths.map(({ steps }, i) => episodeOf(steps, i)));

/** The sums over stages of one episode alone, as long as the longest. */
function sumsOf(w: EpisodeWeights, i: number): StageSums {
  const [from, to] = [w.offsets[i]!, w.offsets[i + 1]!];
  return stageSums({
    ...w,
    n: 1,
    offsets: Int32Array.of(0, to - from),
    weights: w.weights.subarray(from, to),
    logWeight: w.logWeight.subarray(i, i + 1),
  });
}

test.each(POLICIES)(
  'who is alive, whom the target would have, E[w²] both ways, by full enumeration: %s',
  (name) => {
    const want = law.policies[name];
    const w = episodeWeights(logRatiosFromPolicyFile(every, policyFile(name)));
    const E: Record<string, number[]> = {};
    // Sums of stages add up over episodes: each counts by its probability.
    paths.forEach(({ p }, i) => {
      for (const [key, x] of Object.entries(sumsOf(w, i)))
        for (let t = 0; t < H; t++) {
          E[key] ??= new Array(H).fill(0);
          E[key]![t] = E[key]![t]! + p * x[t];
        }
    });
    for (let t = 0; t < H; t++) {
      near(E.alive![t]!, want.P_alive_behaviour[t]!);
      near(E.reached![t]!, want.P_alive_pi[t]!);
      near(E.carriedSum![t]!, 1);
      near(E.carriedSquares![t]!, want.E_rho2_all_carried_forward[t]!);
      near(E.aliveSquares![t]!, want.E_rho2_alive_at_t[t]!);
      near(E.carriedSum![t]! ** 2 / E.carriedSquares![t]!, want.ESS_fraction_by_stage[t]!);
    }
  },
);

test('the patient policy is the optimal one: its Q is the best, and it takes the best of it', () => {
  const { value, q } = toolAgentExact(TOOL_AGENT_POLICIES.patient);
  near(value, values.V_opt);
  const Q: Record<string, Record<string, Record<string, number>>> = values.Q_opt;
  const greedy: Record<string, Record<string, string>> = values.greedy;
  for (let t = 0; t < H; t++)
    for (const x of [0, 1, 2]) {
      ORDER.forEach((a, k) => {
        near(q[t]![x]![k]!, Q[t + 1]![x]![a]!);
      });
      const best = ORDER[q[t]![x]!.indexOf(Math.max(...q[t]![x]!))];
      expect(best).toBe(greedy[t + 1]![x]);
      expect(TOOL_AGENT_POLICIES.patient(t, x)[ORDER.indexOf(best!)]).toBe(1);
    }
});

test('500 rollouts: how many, how long, how many turns', async () => {
  const episodes = sample();
  expect(episodes).toHaveLength(values.sample_n);
  const t = trajectoriesOf(episodes);
  const ratios = logRatiosFromPolicyFile(t, policyFile('soft'));
  const result = evaluate(ratios);
  expect(result.episodes.used).toBe(values.sample_n);
  expect(result.turns).toBe(values.sample_n_steps);
  const { alive } = stageSums(episodeWeights(ratios));
  const exactly = Object.fromEntries([...alive].map((n, k) => [k + 1, n - (alive[k + 1] ?? 0)]));
  expect(exactly).toEqual(values.sample_turns_hist);
  const store = await storeOf(episodes);
  const d = await describe(store);
  store.close();
  expect(d.turns).toBe(values.sample_n_steps);
  expect(d.turnsPerEpisode!.mean).toBeCloseTo(values.sample_n_steps / values.sample_n, 12);
});

test.each(POLICIES)(
  '500 rollouts: what the table of Q has not seen, and what of it the target does: %s',
  (name) => {
    const want = values.sample[name];
    const t = trajectoriesOf(sample());
    const ratios = logRatiosFromPolicyFile(t, policyFile(name));
    const w = episodeWeights(ratios);
    const cells = Int32Array.from(t.features!.values);
    const states = stageStates(w, cells, 3);
    const { unseen, classes } = tabularQ(
      w,
      { ...ratios.table!, cell: cells },
      states,
    )(Int32Array.from({ length: w.n }, (_, i) => i));
    const found: [number, number, string][] = [];
    for (let turn = 0; turn < H; turn++)
      for (const x of [0, 1, 2]) {
        const row = [...states.cell.keys()].find(
          (r) =>
            states.cell[r] === x && r >= states.stageOffsets[turn]! && r < states.stageOffsets[turn + 1]!,
        );
        for (const a of ACTIONS)
          if (row === undefined || unseen![row * classes.length + classes.indexOf(a)] === 1)
            found.push([turn + 1, x, a]);
      }
    expect(found).toEqual(want.unseen_cells);
    const rules = policyFile(name).rules;
    const takes = (turn: number, x: number, a: string) =>
      rules.find(
        ({ when }) =>
          (when.turn === undefined || when.turn === turn - 1) &&
          (when['features.0'] === undefined || when['features.0'] === x),
      )!.probabilities[a] ?? 0;
    expect(found.filter(([turn, x, a]) => takes(turn, x, a) > 0)).toEqual(want.unseen_cells_with_pi_mass);
  },
);
