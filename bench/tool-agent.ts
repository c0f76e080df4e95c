import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { audit } from '../src/audit/audit.ts';
import { runCritic } from '../src/critic/credit.ts';
import { ingest } from '../src/ingest/ingest.ts';
import { readPolicyFile } from '../src/policy/read-policy-file.ts';
import { simulateToolAgent } from '../src/simulate/tool-agent.ts';
import { toolAgentExact } from '../src/simulate/tool-agent-exact.ts';
import { ACTIONS, TOOL_AGENT_POLICIES } from '../src/simulate/tool-agent-law.ts';
import { openStore } from '../src/store/store.ts';
import { loadTrajectories } from '../src/trajectories/load.ts';
import { logRatiosFromPolicyFile } from '../src/weights/from-policy-file.ts';
import type { Study } from './result.ts';

/** What the critic and the estimators say of simulated logs against what is exactly true. */
export interface Truthfulness {
  readonly episodes: number;
  readonly tasks: number;
  readonly seconds: Readonly<Record<string, number>>;
  readonly critic: Readonly<Record<'v' | 'advantage', { rmse: number; correlation: number; n: number }>>;
  /** (estimate − exact) in exact standard errors. */
  readonly estimates: readonly {
    policy: string;
    estimator: string;
    value: number;
    exact: number;
    z: number;
    verdict: string;
  }[];
}

/** `npm run bench tool-agent -- --episodes 200000 --tasks 20000 --seed 1` */
export async function bench(flags: readonly string[]): Promise<Study> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      episodes: { type: 'string', default: '200000' },
      tasks: { type: 'string', default: '20000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const data = await toolAgent(Number(values.episodes), Number(values.tasks), Number(values.seed));
  const { v, advantage } = data.critic;
  const text = [
    `tool-agent: ${data.episodes} episodes, ${data.tasks} tasks`,
    `V  against the exact V: RMSE ${v.rmse.toFixed(4)}, correlation ${v.correlation.toFixed(4)}, ${v.n} turns`,
    `A  against the exact A: RMSE ${advantage.rmse.toFixed(4)}, correlation ${advantage.correlation.toFixed(4)}`,
    ...data.estimates.map(
      (e) =>
        `${e.policy.padEnd(8)} ${e.estimator.padEnd(5)} ${e.value.toFixed(4)}  exact ${e.exact.toFixed(4)}  ${e.z.toFixed(2)} exact standard errors off  ${e.verdict}`,
    ),
    `seconds: ${Object.entries(data.seconds)
      .map(([what, s]) => `${what} ${s.toFixed(1)}`)
      .join(', ')}`,
    '',
  ].join('\n');
  return { data, text };
}

/**
 * The whole road on the tool-agent world, from
 * JSONL through the store, beside its exact values.
 */
export async function toolAgent(episodes: number, tasks: number, seed: number): Promise<Truthfulness> {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-tool-agent-'));
  const seconds: Record<string, number> = {};
  const timed = async <T>(what: string, body: () => Promise<T>): Promise<T> => {
    const from = performance.now();
    const result = await body();
    seconds[what] = Math.round(performance.now() - from) / 1000;
    return result;
  };
  try {
    const file = join(folder, 'episodes.jsonl');
    await timed('simulate', () =>
      pipeline(function* () {
        for (const e of simulateToolAgent({ episodes, tasks, seed })) yield `${JSON.stringify(e)}\n`;
      }, createWriteStream(file)),
    );
    const store = await openStore(join(folder, 'runs.duckdb'), { mode: 'create' });
    try {
      await timed('ingest', () => ingest(store, [file]));
      const t = await timed('load', () => loadTrajectories(store, { features: true }));
      const run = await timed('critic', () => runCritic(store, { critic: { seed } }));
      const exact = toolAgentExact(TOOL_AGENT_POLICIES.behaviour);
      const v = moments();
      const advantage = moments();
      const { turn, actionClass } = t.turns;
      const action = actionClass.values.map((name) => (ACTIONS as readonly string[]).indexOf(name));
      for (let s = 0; s < turn.length; s++) {
        const q = t.features!.values[t.features!.offsets[s]!]!;
        v.add(run.fit.v[s]!, exact.v[turn[s]!]![q]!);
        advantage.add(run.fit.advantage[s]!, exact.advantage[turn[s]!]![q]![action[actionClass.codes[s]!]!]!);
      }
      const estimates = await timed('audit', async () =>
        (['soft', 'patient', 'eager'] as const).flatMap((name) => {
          const policy = readPolicyFile(
            new URL(`../datasets/tool-agent/${name}.policy.json`, import.meta.url).pathname,
          );
          const a = audit(logRatiosFromPolicyFile(t, policy));
          const truth = toolAgentExact(TOOL_AGENT_POLICIES[name]);
          return (['IS', 'PDIS'] as const).map((estimator) => {
            const value = a.evaluation!.estimates.find((e) => e.estimator === estimator)!.value!;
            const variance = estimator === 'IS' ? truth.varianceIs : truth.variancePdis;
            const z = (value - truth.value) / Math.sqrt(variance / episodes);
            return { policy: name, estimator, value, exact: truth.value, z, verdict: a.verdict };
          });
        }),
      );
      return {
        episodes,
        tasks,
        seconds,
        critic: { v: v.result(), advantage: advantage.result() },
        estimates,
      };
    } finally {
      store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Root mean squared error and correlation of pairs, summed as they come. */
function moments(): {
  add(x: number, y: number): void;
  result(): { rmse: number; correlation: number; n: number };
} {
  let n = 0;
  const sums = new Float64Array(6); // x, y, x², y², xy, (x − y)²
  return {
    add(x, y) {
      n++;
      [x, y, x * x, y * y, x * y, (x - y) ** 2].forEach((value, k) => {
        sums[k] = sums[k]! + value;
      });
    },
    result() {
      const [x, y, xx, yy, xy, dd] = Array.from(sums, (s) => s / n) as [
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      return { rmse: Math.sqrt(dd), correlation: (xy - x * y) / Math.sqrt((xx - x * x) * (yy - y * y)), n };
    },
  };
}
