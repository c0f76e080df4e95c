import type { Batch } from '../store/batch.ts';
import type { Place } from './episode-columns.ts';

/** A record that could not be used; NaN where the format has no lines or bytes. */
export interface Reject extends Place {
  readonly reason: string;
  readonly excerpt: string;
}

const EXCERPT = 160;

/** The first characters of a record, for the eye: bytes that are no UTF-8 show as U+FFFD. */
export function excerpt(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 4 * EXCERPT)).trimStart();
  if (text.length <= EXCERPT) return text;
  return `${text.slice(0, EXCERPT).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A reason on one line of bounded length, whatever names it quotes: a log cannot write lines of the program's output. */
export function oneLine(reason: string): string {
  const line = reason.replaceAll('\n', '\\n').replace(CONTROL, escaped);
  return line.length <= REASON ? line : `${line.slice(0, REASON)}…`;
}

const REASON = 2000;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

function escaped(c: string): string {
  return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function rejectBatch(source: number, rejects: readonly Reject[]): Batch {
  return {
    table: 'rejects',
    rows: rejects.length,
    columns: {
      source: { kind: 'i32', values: new Int32Array(rejects.length).fill(source) },
      line: { kind: 'i64', ...orNull(rejects.map((r) => r.line)) },
      byte_offset: { kind: 'i64', ...orNull(rejects.map((r) => r.byteOffset)) },
      reason: { kind: 'text', values: rejects.map((r) => oneLine(r.reason)) },
      excerpt: { kind: 'text', values: rejects.map((r) => r.excerpt) },
    },
  };
}

function orNull(numbers: readonly number[]): { values: Float64Array; valid: Uint8Array } {
  return {
    values: Float64Array.from(numbers, (n) => (Number.isNaN(n) ? 0 : n)),
    valid: Uint8Array.from(numbers, (n) => (Number.isNaN(n) ? 0 : 1)),
  };
}
