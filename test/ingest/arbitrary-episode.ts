import { fc } from '@fast-check/vitest';
import type { EpisodeInput } from '../../src/schema/episode.ts';

const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: null });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const text = fc.string({ unit: 'grapheme', maxLength: 20 });

const segment = fc.nat({ max: 8 }).chain((n) => {
  const list = <T>(arb: fc.Arbitrary<T>) => fc.array(arb, { minLength: n, maxLength: n });
  return fc.record(
    {
      token_ids: list(int32),
      action_mask: fc.oneof(list(fc.boolean()), list(fc.constantFrom(0 as const, 1 as const))),
      behaviour_logprobs: maybe(list(maybe(fc.float({ noNaN: true, noDefaultInfinity: true })))),
      versions: maybe(list(maybe(int32))),
      token_turn: maybe(list(maybe(fc.nat({ max: 9 })))),
    },
    { requiredKeys: ['token_ids', 'action_mask'], noNullPrototype: true },
  );
});

const call = fc.record(
  {
    name: text,
    arguments: fc.oneof(text, fc.dictionary(text, fc.integer(), { maxKeys: 2, noNullPrototype: true })),
    result: maybe(text),
    error: maybe(fc.boolean()),
  },
  { requiredKeys: ['name', 'arguments'], noNullPrototype: true },
);

const turn = fc.record(
  {
    segment: maybe(fc.nat({ max: 3 })),
    observation: maybe(text),
    action: maybe(text),
    tool_calls: fc.array(call, { maxLength: 2 }),
    reward: maybe(finite),
    behaviour_logprob: maybe(finite),
    n_action_tokens: maybe(fc.nat({ max: 1000 })),
    version: maybe(text),
    logprob_kind: fc.constantFrom(null, 'raw' as const, 'processed' as const),
    features: maybe(fc.array(finite, { maxLength: 3 })),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** Canonical records, within the types of the store. */
export function episodes({ withSegments = false } = {}): fc.Arbitrary<EpisodeInput> {
  return fc.record(
    {
      episode_id: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      task_id: maybe(text),
      trial: maybe(fc.nat({ max: 99 })),
      policy: maybe(text),
      ending: fc.constantFrom('terminated' as const, 'limit' as const, 'aborted' as const),
      reward: maybe(finite),
      cost: maybe(finite),
      meta: maybe(
        fc.dictionary(
          text.filter((k) => k !== '__proto__'),
          fc.oneof(text, fc.boolean(), fc.integer()),
          { maxKeys: 3, noNullPrototype: true },
        ),
      ),
      turns: fc.array(turn, { maxLength: 3 }),
      segments: fc.array(segment, { maxLength: 2 }),
    },
    {
      requiredKeys: withSegments ? ['episode_id', 'turns', 'segments'] : ['episode_id', 'turns'],
      noNullPrototype: true,
    },
  ) as fc.Arbitrary<EpisodeInput>;
}
