import { closeSync, openSync, writeSync } from 'node:fs';

const TURNS = 8;
const TOKENS = 200;
/** Of each turn's tokens, those that the environment wrote. */
const OBSERVED = 80;

/**
 * Writes a canonical log of about `mb` million bytes: token-level rollouts of 8 turns of 200 tokens, with
 * ids, masks and log-probabilities as a trainer logs them (float32, written in full), and short texts.
 */
export function writeLog(path: string, mb: number): { readonly bytes: number; readonly tokens: number } {
  const file = openSync(path, 'w');
  let state = 1;
  const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  let bytes = 0;
  let tokens = 0;
  try {
    for (let n = 0; bytes < mb * 1e6; ) {
      let text = '';
      for (let k = 0; k < 20; k++, n++) text += `${JSON.stringify(rollout(n, uniform))}\n`;
      bytes += writeSync(file, text);
      tokens += 20 * TURNS * TOKENS;
    }
  } finally {
    closeSync(file);
  }
  return { bytes, tokens };
}

function rollout(n: number, uniform: () => number) {
  const turns = [];
  const token_ids: number[] = [];
  const action_mask: boolean[] = [];
  const behaviour_logprobs: (number | null)[] = [];
  for (let t = 0; t < TURNS; t++) {
    turns.push({
      segment: 0,
      observation: `Tool output ${n}.${t}: row "a"\n`.repeat(6),
      action: `I look up item ${Math.floor(1e6 * uniform())} and compare.`,
      tool_calls: [
        { name: 'search', arguments: { query: `item ${n}` }, result: 'ok', error: uniform() < 0.1 },
      ],
      n_action_tokens: TOKENS - OBSERVED,
      version: '3',
    });
    for (let i = 0; i < TOKENS; i++) {
      token_ids.push(Math.floor(150_000 * uniform()));
      action_mask.push(i >= OBSERVED);
      behaviour_logprobs.push(i >= OBSERVED ? Math.fround(-2 * uniform()) : null);
    }
  }
  return {
    episode_id: `rollout-${n}`,
    task_id: `task-${n >> 3}`,
    trial: n & 7,
    policy: 'agent',
    ending: 'terminated',
    reward: uniform() < 0.5 ? 1 : 0,
    turns,
    segments: [{ token_ids, action_mask, behaviour_logprobs }],
  };
}
