import { closeSync, openSync, writeSync } from 'node:fs';

/** What a record of a log holds: turns, tokens a turn, characters of each text. */
interface Shape {
  readonly turns: number;
  readonly tokens: number;
  readonly characters: number;
}

export const KINDS = {
  'short turns': { turns: 8, tokens: 200, characters: 200 },
  '20,000 tokens a turn': { turns: 4, tokens: 20_000, characters: 200 },
  '100,000 tokens a turn': { turns: 2, tokens: 100_000, characters: 200 },
  '100 kB texts': { turns: 4, tokens: 0, characters: 100_000 },
} as const satisfies Readonly<Record<string, Shape>>;
export type Kind = keyof typeof KINDS;

/** Writes a canonical log of about `gb` 10^9 bytes: two policies, eight trials a task, declared classes. */
export function writeMemoryLog(path: string, kind: Kind, gb: number): { bytes: number; episodes: number } {
  const file = openSync(path, 'w');
  let state = 1;
  const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const words = Array.from({ length: 5000 }, () => Math.floor(1e9 * uniform()).toString(36));
  let bytes = 0;
  let n = 0;
  try {
    for (; bytes < gb * 1e9; n++)
      bytes += writeSync(file, `${JSON.stringify(record(n, KINDS[kind], uniform, words))}\n`);
  } finally {
    closeSync(file);
  }
  return { bytes, episodes: n };
}

function record(n: number, shape: Shape, uniform: () => number, words: readonly string[]) {
  const text = (length: number) => {
    let out = '';
    while (out.length < length) out += `${words[Math.floor(words.length * uniform())]} `;
    return out.slice(0, length);
  };
  const turns = [];
  const segment = {
    token_ids: [] as number[],
    action_mask: [] as boolean[],
    behaviour_logprobs: [] as (number | null)[],
    token_turn: [] as number[],
  };
  for (let t = 0; t < shape.turns; t++) {
    turns.push({
      segment: shape.tokens > 0 ? 0 : null,
      observation: text(shape.characters),
      action: text(shape.characters),
      tool_calls: [{ name: 'search', arguments: { query: n }, result: 'ok', error: uniform() < 0.1 }],
      action_class: uniform() < 0.5 ? 'a' : 'b',
      behaviour_log_propensity: Math.log(0.5),
    });
    for (let i = 0; i < shape.tokens; i++) {
      const sampled = i >= 0.4 * shape.tokens;
      segment.token_ids.push(Math.floor(150_000 * uniform()));
      segment.action_mask.push(sampled);
      segment.behaviour_logprobs.push(sampled ? Math.fround(-2 * uniform()) : null);
      segment.token_turn.push(t);
    }
  }
  return {
    episode_id: `rollout-${n}`,
    task_id: `task-${n >> 3}`,
    policy: n % 2 === 0 ? 'A' : 'B',
    ending: 'terminated',
    reward: uniform() < 0.5 ? 1 : 0,
    turns,
    ...(shape.tokens > 0 ? { segments: [segment] } : {}),
  };
}
