/**
 * How often actions without any effect are marked, and how often a real one is: the contrast within
 * tasks and turns beside the mean of G − V̂ by action with an error by task, in worlds whose truth is
 * known. V̂ is the mean by turn, and knows no more.
 */
import { actionContrast, turnCells } from '../src/critic/action-contrast.ts';
import type { CriticRows } from '../src/critic/critic-rows.ts';
import { contrastMark } from '../src/critic/marks.ts';
import { random, uniform } from '../src/math/random.ts';
import { clusterVariance } from '../src/math/statistics.ts';
import type { Study } from './result.ts';

type Rng = ReturnType<typeof random>;
interface Trial {
  readonly tools: readonly number[];
  readonly success: number;
}

const TOOLS = 8;
const draw = (rng: Rng, n: number): number => Math.floor(n * uniform(rng));
const flip = (rng: Rng, p: number): boolean => uniform(rng) < p;

/** One trial of a task, by world. */
const WORLDS: Readonly<Record<string, (rng: Rng, task: number) => Trial>> = {
  'tools at random, two difficulties': (rng, task) => ({
    tools: Array.from({ length: 5 + draw(rng, 5) }, () => draw(rng, TOOLS)),
    success: flip(rng, task % 2 ? 0.2 : 0.8) ? 1 : 0,
  }),
  'a favourite tool and success rate by kind': (rng, task) => ({
    tools: Array.from({ length: 5 }, () => (flip(rng, 0.6) ? task % 4 : draw(rng, TOOLS))),
    success: flip(rng, 0.2 + 0.2 * (task % 4)) ? 1 : 0,
  }),
  'length by outcome, a tool of late turns': (rng) => {
    const success = flip(rng, 0.5) ? 1 : 0;
    const tools = Array.from({ length: (success ? 3 : 6) + draw(rng, 3) }, (_, k) =>
      k > 3 && flip(rng, 0.5) ? TOOLS - 1 : draw(rng, TOOLS),
    );
    return { tools, success };
  },
  'effect: each call of tool 0 adds .08': (rng, task) => {
    const tools = Array.from({ length: 5 }, () => draw(rng, TOOLS));
    const p = (task % 2 ? 0.2 : 0.5) + 0.08 * tools.filter((a) => a === 0).length;
    return { tools, success: flip(rng, p) ? 1 : 0 };
  },
};

function columns(rng: Rng, world: string, episodes: number) {
  const trials = Array.from({ length: episodes }, (_, i) => WORLDS[world]!(rng, i >> 2));
  const place = trials.flatMap((x, i) => x.tools.map(() => i));
  const stage = Int32Array.from(trials.flatMap((x) => x.tools.map((_, k) => k)));
  const toGo = Float64Array.from(place, (i) => trials[i]!.success);
  const sum = new Float64Array(16);
  const n = new Float64Array(16);
  stage.forEach((k, i) => {
    sum[k]! += toGo[i]!;
    n[k]!++;
  });
  const r = {
    rows: Int32Array.from(place.keys()),
    place: Int32Array.from(place),
    cluster: Int32Array.from(trials, (_, i) => i >> 2),
    clusters: Math.ceil(episodes / 4),
    stage,
    toGo,
  } as unknown as CriticRows;
  return {
    r,
    v: Float64Array.from(stage, (k) => sum[k]! / n[k]!),
    tools: Int32Array.from(trials.flatMap((x) => x.tools)),
  };
}

/** Whether any action is marked, by the contrast and by the mean beside it. */
function marked(rng: Rng, world: string, episodes: number): { contrast: boolean; mean: boolean } {
  const { r, v, tools } = columns(rng, world, episodes);
  const cells = turnCells(r, v);
  const out = { contrast: false, mean: false };
  const only = world.startsWith('effect') ? [0] : [...Array(TOOLS).keys()];
  for (const a of only) {
    const contrast = actionContrast(
      cells,
      Uint8Array.from(tools, (x) => (x === a ? 1 : 0)),
      r.clusters,
    );
    if (contrastMark(contrast, TOOLS) !== null) out.contrast = true;
    const rows = r.rows.filter((row) => tools[row] === a);
    const y = Float64Array.from(rows, (row) => r.toGo[row]! - v[row]!);
    const of = rows.map((row) => r.cluster[r.place[row]!]!);
    const { mean, se, clusters } = clusterVariance(y, of, r.clusters);
    const old = { mean, se, tasks: clusters, df: clusters - 1 };
    if (contrastMark(old, TOOLS) !== null) out.mean = true;
  }
  return out;
}

export async function bench(flags: readonly string[]): Promise<Study> {
  const sets = Number(flags[0] ?? 200);
  const data: { world: string; episodes: number; sets: number; contrast: number; mean: number }[] = [];
  for (const world of Object.keys(WORLDS))
    for (const episodes of [200, 800, 3200]) {
      const share = { contrast: 0, mean: 0 };
      for (let s = 0; s < sets; s++) {
        const found = marked(random(s, `credit-null ${world} ${episodes}`), world, episodes);
        if (found.contrast) share.contrast += 1 / sets;
        if (found.mean) share.mean += 1 / sets;
      }
      data.push({ world, episodes, sets, ...share });
    }
  const percent = (x: number): string => `${(100 * x).toFixed(1)} %`.padStart(8);
  const lines = data.map(
    (d) => `${d.world.padEnd(44)}${String(d.episodes).padStart(8)}${percent(d.contrast)}${percent(d.mean)}`,
  );
  const allowed = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / sets);
  const text = `Data sets (of ${sets}) with a mark; without an effect at most ${(100 * allowed).toFixed(1)} % are chance\n${'world'.padEnd(44)}episodes contrast mean G − V̂\n${lines.join('\n')}\n`;
  return { data, text };
}
