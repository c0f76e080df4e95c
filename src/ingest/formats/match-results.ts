import type { ToolResult } from './messages.ts';

/** A call that waits for its result. */
export interface Matchable {
  readonly id: string | null;
  readonly name: string;
  answered: boolean;
}

/** Tells which call a result belongs to, in the order in which calls and results come. */
export interface ResultMatcher<C extends Matchable> {
  /** The calls of one turn. */
  made(calls: readonly C[]): void;
  /** The call that `result` answers, marked as answered; undefined: none, it is orphaned. */
  answer(result: Pick<ToolResult, 'id' | 'ownId' | 'name'>): C | undefined;
}

/**
 * An empty id is none. A result with an id answers
 * 1. of the calls with that id, the first that is still open in the latest turn that has an open one (ids
 *    are used again by some servers, in the next turn or within one); of its own name, if it names one and any
 *    open call with that id has it;
 * 2. if all of them have their answer, the latest of them once more (parts of one answer);
 * 3. if no call has that id, an open call of the last turn that has no id itself, as without an id.
 * One without an id answers the first open call of the last turn that made any: of its name if it names
 * one, else the first of all; of calls that have no id themselves, if there are any. Anything else is orphaned.
 *
 * Time: O(1) a call and a result.
 */
export function resultMatcher<C extends Matchable>(): ResultMatcher<C> {
  /** By id, the calls of each turn that used it, the latest last. */
  const byId = new Map<string, Group<C>[]>();
  /** The same by id and name. */
  const byBoth = new Map<string, Group<C>[]>();
  let last = groupOf<C>([]);
  let lastWithoutId = last;
  return {
    made(calls) {
      if (calls.length === 0) return;
      last = groupOf(calls);
      lastWithoutId = groupOf(calls.filter((c) => c.id === null));
      const ids = new Map<string, C[]>();
      for (const call of calls) if (call.id !== null) push(ids, call.id, call);
      for (const [id, same] of ids) {
        push(byId, id, groupOf(same));
        const names = new Map<string, C[]>();
        for (const call of same) push(names, call.name, call);
        for (const [name, alike] of names) push(byBoth, both(id, name), groupOf(alike));
      }
    },
    answer({ id: given, ownId, name }) {
      const id = given ?? (ownId != null && byId.has(ownId) ? ownId : null);
      const groups = id === null ? undefined : byId.get(id);
      const call = groups
        ? (openOf(id !== null && name !== null ? byBoth.get(both(id, name)) : undefined) ??
          openOf(groups) ??
          latest(groups, name))
        : (openIn(lastWithoutId, name) ?? (id === null ? openIn(last, name) : undefined));
      if (call) call.answered = true;
      return call;
    },
  };
}

/** Calls in order, and by name where that is asked for. All before `next` are answered. */
interface Group<C> {
  readonly calls: readonly C[];
  next: number;
  byName?: ReadonlyMap<string, Group<C>>;
}

const groupOf = <C>(calls: readonly C[]): Group<C> => ({ calls, next: 0 });

function push<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function firstOpen<C extends Matchable>(group: Group<C>): C | undefined {
  while (group.next < group.calls.length && group.calls[group.next]!.answered) group.next++;
  return group.calls[group.next];
}

/** The first open call, of that name if one is given. */
function openIn<C extends Matchable>(group: Group<C>, name: string | null): C | undefined {
  const named = name === null ? group : ofName(group, name);
  return named && firstOpen(named);
}

function ofName<C extends Matchable>(group: Group<C>, name: string): Group<C> | undefined {
  if (group.byName === undefined) {
    const lists = new Map<string, C[]>();
    for (const call of group.calls) push(lists, call.name, call);
    group.byName = new Map([...lists].map(([key, calls]) => [key, groupOf(calls)]));
  }
  return group.byName.get(name);
}

const both = (id: string, name: string): string => JSON.stringify([id, name]);

/** Groups without an open call are dropped, but for the latest, which may get more parts of an answer. */
function openOf<C extends Matchable>(groups: Group<C>[] | undefined): C | undefined {
  if (groups === undefined) return undefined;
  for (let k = groups.length - 1; k >= 0; k--) {
    const first = firstOpen(groups[k]!);
    if (first !== undefined) return first;
    if (k < groups.length - 1) groups.splice(k, 1);
  }
  return undefined;
}

function latest<C extends Matchable>(groups: readonly Group<C>[], name: string | null): C {
  const { calls } = groups.at(-1)!;
  return (name === null ? undefined : calls.findLast((c) => c.name === name)) ?? calls.at(-1)!;
}
