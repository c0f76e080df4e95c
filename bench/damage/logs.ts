/* The logs and stores that the tries start from. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { type Lab, outcomeOf } from './lab.ts';
import type { Sums } from './sums.ts';

export interface Logs {
  /** Three files of episodes, one of them with token sequences. */
  readonly files: readonly string[];
  /** All of them in one store. */
  readonly store: string;
  /** What a store of the first 0, 1, 2 and 3 files holds. */
  readonly prefixes: readonly string[];
  /** Puts copies of the files into a folder. */
  into(folder: string): void;
}

export async function makeLogs(lab: Lab, sums: Sums): Promise<Logs> {
  const folder = join(lab.base, 'logs');
  mkdirSync(folder);
  const world = [
    ...simulateToolAgent({ episodes: 1200, tasks: 60, seed: 1, policy: 'behaviour', starts: 'halves' }),
  ];
  const third = world.length / 3;
  const files = [0, 1, 2].map((f) => {
    const lines = world.slice(f * third, (f + 1) * third).map((episode, k) => {
      const token_ids = Array.from({ length: 200 }, (_, i) => (i * 7919 + k) % 50_000);
      const segments = [{ token_ids, action_mask: token_ids.map((_, i) => i % 3 > 0) }];
      return JSON.stringify(f === 1 ? { ...episode, segments } : episode);
    });
    if (f === 2) lines.push('no record');
    const path = join(folder, `f${f}.jsonl`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return `f${f}.jsonl`;
  });
  const prefixes: string[] = [];
  for (let n = 0; n <= files.length; n++) {
    const path = join(folder, `p${n}.duckdb`);
    const done = await lab.turnwise(['ingest', ...files.slice(0, n), '--store', path, '--json'], {
      cwd: folder,
    });
    if (n === 0) prefixes.push('');
    else if (outcomeOf(done, true) !== 'held') throw new Error(`the logs are not read: ${done.err}`);
    else prefixes.push((await sums.of('store', path)).sums!);
  }
  const store = join(folder, `p${files.length}.duckdb`);
  const saved = await lab.turnwise(['credit', '--store', store, '--save-as', 'kept', '--placebos', '1'], {
    cwd: folder,
  });
  if (outcomeOf(saved, true) !== 'held') throw new Error(`no credit is saved: ${saved.err}`);
  return {
    files,
    store,
    prefixes,
    into(to) {
      for (const name of files) copyFileSync(join(folder, name), join(to, name));
    },
  };
}

/** Files of the user's in the places where a program might write on its way, and whether they are there as they were. */
export function foreign(folder: string, names: readonly string[]): () => boolean {
  const content = 'the user wrote this\n';
  const paths = names.map((name) => join(folder, name));
  for (const path of paths) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
  }
  return () => {
    try {
      return paths.every((path) => readFileSync(path, 'utf8') === content);
    } catch {
      return false;
    }
  };
}
