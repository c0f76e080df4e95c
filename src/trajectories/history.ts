import { stringifyExact } from '../json/exact-json.ts';
import { ExactNumber } from '../json/exact-number.ts';
import type { ToolCall } from '../schema/turn.ts';

/** What of a call is known once it was made and answered. */
export type LoggedCall = Pick<ToolCall, 'name' | 'arguments' | 'error'>;

/** Tool use of an episode up to the turn about to be taken. */
export interface History {
  calls: number;
  /** Of the last call: 1 failed, 0 did not, −1 unknown; 0 before any call. */
  lastFailed: number;
  /** Whether the previous turn made a call that had been made before. */
  repeated: boolean;
  previousActionLength: number;
  readonly seen: Set<string>;
}

export function startHistory(): History {
  return {
    calls: 0,
    lastFailed: 0,
    repeated: false,
    previousActionLength: 0,
    seen: new Set(),
  };
}

/**
 * Takes up a turn: its action, its calls and how many of them failed (−1: unknown). A call repeats
 * an earlier one of the episode when name and arguments are the same, whatever the order of keys.
 */
export function takeUpTurn(
  h: History,
  action: string | null,
  calls: readonly LoggedCall[],
  errors: number,
): void {
  h.previousActionLength = action === null ? 0 : action.length;
  h.repeated = false;
  for (const call of calls) {
    // The length first, so that no name runs over into its arguments.
    const key = `${call.name.length}:${call.name}${argumentsText(call.arguments)}`;
    if (h.seen.has(key)) h.repeated = true;
    else h.seen.add(key);
  }
  const last = calls.at(-1);
  if (last === undefined) {
    // No call is known, nor how many failed: the calls could not be read.
    if (errors < 0) h.lastFailed = -1;
    return;
  }
  h.calls += calls.length;
  h.lastFailed = failed(last, calls.length, errors);
}

/** Arguments as text: what the model wrote, or JSON with its keys in order. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return stringifyExact(inOrder(value) ? value : sorted(value)) ?? 'null';
}

/** Where the call itself does not say, the turn's count does if all or none of its calls failed. */
function failed(last: LoggedCall, calls: number, errors: number): number {
  if (typeof last.error === 'boolean') return last.error ? 1 : 0;
  if (errors === 0) return 0;
  return errors >= calls ? 1 : -1;
}

/** Most logs write a call's keys in one order, and many in this one: then nothing is copied. */
function inOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(inOrder);
  let last = '';
  for (const key in value) {
    if (key < last || !inOrder((value as Record<string, unknown>)[key])) return false;
    last = key;
  }
  return true;
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
