import { failure } from '../../schema/error.ts';
import { checkPlace } from '../file-place.ts';
import type { Work } from './collect.ts';
import { constants, type Plan } from './constants.ts';
import type { Entry } from './entry.ts';
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
  /** Lets go of the graphs that hold a constant. */
  forget(frozen: Entry): void;
  readonly stats: { compiles: number; runs: number };
  size(): number;
  /** Releases all; `forever`: nothing is compiled any more. */
  close(forever?: boolean): Promise<void>;
}

interface Slot {
  readonly key: string;
  readonly compiled: Promise<Compiled>;
  /** The constants it holds. */
  readonly frozen: readonly Entry[];
  users: number;
  /** Let go of: released once nobody runs it. */
  dropped: boolean;
}

export function sessions(runtime: Runtime, most: number): Sessions {
  const slots = new Map<string, Slot>();
  const planOf = constants(4 * most);
  const stats = { compiles: 0, runs: 0 };
  let closed = false;
  const compile = (work: Work, { key, constant }: Plan): Slot => {
    const graph = writeGraph(work, constant, runtime.provider);
    stats.compiles++;
    const compiled = async (): Promise<Compiled> => {
      for (const { place } of graph.externals) checkPlace(place);
      const session = await runtime.compile(graph.model, graph.externals);
      return { graph: { ...graph, model: NONE, externals: onePerFile(graph) }, session };
    };
    const frozen = work.leaves.filter((leaf) => leaf.frozen);
    return { key, compiled: compiled(), frozen, users: 0, dropped: false };
  };
  /** Never rejects: a session of a device that is lost may not be released, and who ran it has been told. */
  const release = async ({ compiled }: Slot): Promise<void> => {
    await compiled.then(({ session }) => session.release()).catch(() => undefined);
  };
  const drop = async (slot: Slot): Promise<void> => {
    if (slot.dropped) return;
    slot.dropped = true;
    slots.delete(slot.key);
    if (slot.users === 0) await release(slot);
  };
  /** Lets go of the oldest that nobody is running. */
  const trim = async (): Promise<void> => {
    for (const slot of slots.values()) {
      if (slots.size <= most) return;
      if (slot.users === 0) await drop(slot);
    }
  };
  return {
    stats,
    size: () => slots.size,
    async use(work, f) {
      if (closed)
        throw failure({
          subject: 'tensors',
          wrong: 'have been closed before this one was computed',
          fix: 'Read what is wanted before closing.',
        });
      const plan = planOf(work);
      const slot = slots.get(plan.key) ?? compile(work, plan);
      slots.delete(plan.key);
      slots.set(plan.key, slot); // the youngest
      slot.users++;
      try {
        stats.runs++;
        const compiled = await slot.compiled;
        for (const { place } of compiled.graph.externals) checkPlace(place);
        return await f(compiled);
      } catch (error) {
        void drop(slot); // nobody knows what is left of a session whose run has failed: the next one compiles
        throw error;
      } finally {
        slot.users--;
        if (slot.dropped && slot.users === 0) await release(slot);
        // A constant may have been disposed after it was recorded and before it was computed.
        if (slot.frozen.some(({ refs }) => refs <= 0)) await drop(slot);
        await trim();
      }
    },
    forget(frozen) {
      for (const slot of [...slots.values()]) if (slot.frozen.includes(frozen)) void drop(slot);
    },
    async close(forever = false) {
      closed ||= forever;
      await Promise.all([...slots.values()].map(drop));
    },
  };
}

/** A file is looked at once, however many tensors lie in it. */
function onePerFile({ externals }: Graph): Graph['externals'] {
  const last = new Map<string, Graph['externals'][number]>();
  for (const external of externals) {
    const key = `${external.place.version} ${external.place.path}`;
    const other = last.get(key);
    if (other === undefined || other.place.end < external.place.end) last.set(key, external);
  }
  return [...last.values()];
}

const NONE = new Uint8Array(0);
