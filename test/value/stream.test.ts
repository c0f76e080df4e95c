import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { taskShard } from '../../src/trajectories/split.ts';
import type { EpisodeBlock } from '../../src/value/stream/block.ts';
import { addBlock, scratch } from '../../src/value/stream/first-pass.ts';
import { addMeanRows, meansOf } from '../../src/value/stream/mean-rows.ts';
import { mergeShards, type ShardState, shardState } from '../../src/value/stream/shard-state.ts';
import { isShifted, toStageSums } from '../../src/value/stream/stage-state.ts';
import { addTails, stagewiseEss, tailConcentrations } from '../../src/value/stream/stage-tails.ts';
import { sortedTop } from '../../src/value/stream/top.ts';
import { closeTo } from '../helpers/close-to.ts';

interface Turn {
  readonly ratio: number;
  readonly reward: number;
}
interface Rollout {
  readonly task: string;
  readonly turns: readonly Turn[];
}

const turnWith = (scale: number) =>
  fc.record({
    ratio: fc.oneof(
      { weight: 9, arbitrary: fc.double({ min: -scale, max: scale, noNaN: true }) },
      { weight: 1, arbitrary: fc.constant(Number.NEGATIVE_INFINITY) },
    ),
    reward: fc.constantFrom(0, 0, 1, -0.5),
  });
const rollouts = (scale: number): fc.Arbitrary<Rollout[]> =>
  fc.array(
    fc.record({
      task: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      turns: fc.array(turnWith(scale), { maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 60 },
  );

/** The state of some of the episodes, added `size` at a time, each with its place among all. */
function stateOf(all: readonly Rollout[], of: readonly number[], size: number): ShardState {
  const names = [...new Set(all.map((e) => e.task))];
  const counts = new Int32Array(names.length);
  for (const e of all) counts[names.indexOf(e.task)]!++;
  const state = shardState(all.length, { classes: 0, rules: false, features: 0, tasks: 0 });
  const s = scratch();
  for (let from = 0; from < of.length; from += size) {
    const part = of.slice(from, from + size).map((i) => all[i]!);
    const turns = part.flatMap((e) => e.turns);
    const offsets = Int32Array.from({ length: part.length + 1 }, (_, i) =>
      part.slice(0, i).reduce((n, e) => n + e.turns.length, 0),
    );
    const rewards = [Float64Array.from(turns, (t) => t.reward)];
    const logRatios = Float64Array.from(turns, (t) => t.ratio);
    const block: EpisodeBlock = { n: part.length, row: 0, offsets, use: null, logRatios, rewards };
    const logWeight = new Float64Array(part.length);
    addBlock(state.stages, block, { logWeight, weighted: [new Float64Array(part.length)] }, s);
    const weights = s.logs.map(Math.exp);
    addTails(state.tails, block, logWeight, s.logs, weights);
    const task = Int32Array.from(part, (e) => names.indexOf(e.task));
    addMeanRows(state.means, block, task, counts, weights);
  }
  return state;
}

/** Everything that is read off a state. */
function readings(state: ShardState) {
  const { stages } = state;
  const sums = toStageSums(stages);
  const scale = stages.alive.shift.slice(0, stages.stages);
  return {
    n: stages.episodes,
    sums: Object.fromEntries(Object.entries(sums).map(([name, x]) => [name, [...x]])),
    rewards: [...stages.rewardSums[0]!.subarray(0, stages.stages)],
    scale: [...scale],
    means: Object.fromEntries(
      Object.entries(meansOf(state.means, stages.episodes, stages.stages)).map(([name, x]) => [name, [...x]]),
    ),
    stagewise: [...stagewiseEss(state.tails, stages.stages)],
    concentration: tailConcentrations(state.tails, stages, sums),
  };
}

for (const scale of [1, 400])
  test.prop([rollouts(scale), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 })], {
    numRuns: 150,
  })(`shards by a hash of the task merge to the whole (log-ratios up to ±${scale})`, (all, shards, size) => {
    const places = all.map((_, i) => i);
    const whole = stateOf(all, places, size);
    const parts = Array.from({ length: shards }, (_, k) =>
      stateOf(
        all,
        places.filter((i) => taskShard(all[i]!.task, shards) === k),
        size,
      ),
    );
    const names = [...new Set(all.map((e) => e.task))];
    const counts = Int32Array.from(names, (name) => all.filter((e) => e.task === name).length);
    const merged = parts[0]!;
    for (const part of parts.slice(1)) mergeShards(merged, part, counts);
    if (scale === 1) closeTo(readings(merged), readings(whole), 1e-12);
    else {
      expect(isShifted(merged.stages)).toBe(isShifted(whole.stages));
      closeTo(toStageSums(merged.stages), toStageSums(whole.stages), 1e-9);
    }
    for (const kind of ['alive', 'ended'] as const)
      for (let t = 0; t < whole.stages.stages; t++)
        expect([...sortedTop(merged.tails[kind][t]!)]).toEqual([...sortedTop(whole.tails[kind][t]!)]);
  });
