import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EpisodeInput } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import { simulateToolAgent } from '../simulate/tool-agent.ts';
import { TOOL_AGENT_POLICIES, type ToolAgentPolicyName } from '../simulate/tool-agent-law.ts';
import { writtenWhole } from '../store/whole-file.ts';
import { text, whole } from './arguments.ts';
import { type Command, type Io, seedOption, type Values } from './command.ts';
import { cannotWrite, claimOutput } from './output-file.ts';

const WORLDS: Readonly<Record<string, (values: Values) => Iterable<EpisodeInput>>> = {
  'tool-agent': toolAgent,
};

export const simulateCommand: Command = {
  name: 'simulate',
  prints: 'data',
  summary: 'write episodes of a world whose every value is known exactly',
  positionals: '<world>',
  options: {
    episodes: { type: 'string', value: 'N', default: '2000', help: 'episodes in all, spread over the tasks' },
    tasks: { type: 'string', value: 'K', default: '200', help: 'tasks, each with its own start state' },
    policy: {
      type: 'string',
      value: 'NAME',
      default: 'behaviour',
      help: `who acts: ${Object.keys(TOOL_AGENT_POLICIES).join(', ')}`,
    },
    starts: {
      type: 'string',
      value: 'HOW',
      default: 'halves',
      help: 'start states of the tasks: halves (in turn) or drawn (a sample of tasks)',
    },
    seed: seedOption,
    out: { type: 'string', value: 'FILE', default: '-', help: 'where to; - is standard output' },
    force: { type: 'boolean', help: 'replace the file' },
  },
  examples: [
    'turnwise simulate tool-agent --episodes 2000 --tasks 200 --seed 0 --out episodes.jsonl',
    'turnwise simulate tool-agent | turnwise ingest - --store runs.duckdb',
  ],
  undone: true,
  async run(values, positionals, io) {
    const [name, ...more] = positionals;
    const world = name === undefined || !Object.hasOwn(WORLDS, name) ? undefined : WORLDS[name];
    if (!world || more.length > 0)
      throw failure({
        subject: 'turnwise simulate',
        wrong:
          name === undefined ? 'no world is named' : more.length > 0 ? 'takes one world' : 'unknown world',
        got: name === undefined ? undefined : `"${[name, ...more].join(' ')}"`,
        expected: `one of ${Object.keys(WORLDS).join(', ')}`,
        exitCode: 2,
      });
    const episodes = world(values);
    const out = text(values, 'out')!;
    if (out === '-') await toStdout(episodes, io);
    else {
      claimOutput(out, values.force === true);
      await toFile(episodes, out, values.force === true, io);
    }
    return 0;
  },
};

function toolAgent(values: Values): Iterable<EpisodeInput> {
  const episodes = whole(values, 'episodes', 1)!;
  const tasks = whole(values, 'tasks', 1)!;
  if (tasks > episodes)
    throw failure({
      subject: '--tasks',
      wrong: 'is more than the episodes',
      got: tasks,
      expected: `at most ${episodes}, one episode a task`,
      exitCode: 2,
    });
  const names = Object.keys(TOOL_AGENT_POLICIES) as ToolAgentPolicyName[];
  const policy = oneOf(values, 'policy', names);
  const starts = oneOf(values, 'starts', ['halves', 'drawn'] as const);
  return simulateToolAgent({ episodes, tasks, seed: whole(values, 'seed')!, policy, starts });
}

function oneOf<T extends string>(values: Values, name: string, names: readonly T[]): T {
  const value = text(values, name)!;
  const found = names.find((n) => n === value);
  if (found !== undefined) return found;
  throw failure({
    subject: `--${name}`,
    wrong: 'unknown name',
    got: `"${value}"`,
    expected: `one of ${names.join(', ')}`,
    exitCode: 2,
  });
}

/** JSONL in pieces of some hundred kilobytes. */
function* lines(episodes: Iterable<EpisodeInput>, io: Io): Generator<string> {
  let piece: string[] = [];
  let done = 0;
  for (const episode of episodes) {
    piece.push(JSON.stringify(episode));
    if (piece.length < 256) continue;
    done += piece.length;
    io.progress(`${done} episodes`);
    yield `${piece.join('\n')}\n`;
    piece = [];
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`;
}

async function toStdout(episodes: Iterable<EpisodeInput>, io: Io): Promise<void> {
  for (const piece of lines(episodes, io)) {
    io.out(piece);
    // A slow reader holds the writer back, or all of it would pile up in memory.
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain').catch(() => {});
    if (process.stdout.errored) return; // the reader has gone away
  }
}

async function toFile(episodes: Iterable<EpisodeInput>, path: string, force: boolean, io: Io): Promise<void> {
  try {
    await writtenWhole(
      path,
      (part) => pipeline(Readable.from(lines(episodes, io)), createWriteStream(part, { flags: 'wx' })),
      { replace: force },
    );
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
