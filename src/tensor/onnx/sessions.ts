import type { Work } from './collect.ts';
import { constants } from './constants.ts';
import { type Graph, writeGraph } from './graph.ts';
import type { Runtime, Session } from './runtime.ts';

interface Compiled {
  readonly graph: Graph;
  readonly session: Session;
}

/** Compiled graphs by structure, the least recently used released once there are too many. */
export interface Sessions {
  /** A compiled graph of this structure, and its release for now: it may be dropped from then on. */
  use<T>(work: Work, f: (compiled: Compiled) => Promise<T>): Promise<T>;
  readonly stats: { compiles: number; runs: number };
  size(): number;
  close(): Promise<void>;
}

interface Slot {
  readonly compiled: Promise<Compiled>;
  users: number;
  /** Let go of: released once nobody runs it. */
  dropped: boolean;
}

export function sessions(runtime: Runtime, most: number): Sessions {
  const slots = new Map<string, Slot>();
  const planOf = constants(4 * most);
  const stats = { compiles: 0, runs: 0 };
  const drop = async (key: string, slot: Slot): Promise<void> => {
    slots.delete(key);
    slot.dropped = true;
    if (slot.users === 0) await (await slot.compiled).session.release();
  };
  /** Lets go of the oldest that nobody is running. */
  const trim = async (): Promise<void> => {
    for (const [key, slot] of slots) {
      if (slots.size <= most) return;
      if (slot.users === 0) await drop(key, slot);
    }
  };
  return {
    stats,
    size: () => slots.size,
    async use(work, f) {
      const { key, constant } = planOf(work);
      let slot = slots.get(key);
      if (slot === undefined) {
        stats.compiles++;
        const graph = writeGraph(work, constant);
        const compiled = runtime
          .compile(graph.model)
          .then((session) => ({ graph: { ...graph, model: NONE }, session }));
        slot = { compiled, users: 0, dropped: false };
        compiled.catch(() => slots.delete(key));
      } else slots.delete(key);
      slots.set(key, slot); // the youngest
      slot.users++;
      try {
        stats.runs++;
        return await f(await slot.compiled);
      } finally {
        slot.users--;
        if (slot.dropped && slot.users === 0) await (await slot.compiled).session.release();
        await trim();
      }
    },
    async close() {
      await Promise.all([...slots].map(([key, slot]) => drop(key, slot)));
    },
  };
}

const NONE = new Uint8Array(0);
