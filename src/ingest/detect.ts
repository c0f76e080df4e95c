import { recognisers } from './formats/formats.ts';
import type { FormatName, Unit } from './log-format.ts';

/** Bytes looked at to tell a format; a first record beyond that needs `--format`. */
export const HEAD_BYTES = 8 << 20;
/** Records asked; the first may be the bad one. */
const RECORDS = 20;

/**
 * The format of a file from its first bytes: by magic number, else by asking every format about the
 * first records that parse; undefined where none knows it.
 */
export function detectFormat(path: string, head: Uint8Array): FormatName | undefined {
  const magic = Buffer.from(head.subarray(0, 6)).toString('latin1');
  if (magic.startsWith('PAR1')) return 'parquet';
  if (magic === 'ARROW1' || magic.startsWith('\xff\xff\xff\xff')) return 'arrow';
  let best: { name: FormatName; sure: number } | undefined;
  const records = firstRecords(Buffer.from(head.buffer, head.byteOffset, head.byteLength));
  for (const { record, unit } of records)
    for (const format of recognisers) {
      if (unit !== 'any' && !format.units.includes(unit)) continue;
      const sure = format.recognise(record, path);
      if (sure > (best?.sure ?? 0)) best = { name: format.name, sure };
    }
  if (best) return best.name;
  // A canonical log whose first lines are all broken still has its name.
  if (records.length === 0 && /\.(jsonl|ndjson)(\.gz|\.zst)?$/i.test(path)) return 'canonical';
  return undefined;
}

interface Sample {
  readonly record: unknown;
  /** `any`: one record that is the whole file, as a line or as a document. */
  readonly unit: Unit | 'any';
}

function firstRecords(head: Buffer): readonly Sample[] {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  const array = /^\s*\[/.test(text);
  if (!array) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    // The last line may be cut by the end of the head.
    const samples = lines.slice(0, RECORDS).flatMap((line) => parsed(line));
    if (samples.length > 0)
      return samples.map((record) => ({ record, unit: lines.length === 1 ? 'any' : 'line' }));
  }
  const [document] = parsed(text);
  if (array) {
    const record = Array.isArray(document) ? document.slice(0, RECORDS) : parsed(firstElement(text));
    return record.map((r) => ({ record: r, unit: 'element' }));
  }
  return document === undefined ? [] : [{ record: document, unit: 'document' }];
}

function parsed(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    // A line of a pretty-printed document may be a number or a text of its own.
    return typeof value === 'object' ? [value] : [];
  } catch {
    return [];
  }
}

/** The text of the first object of an array, by counting braces outside strings. */
function firstElement(text: string): string {
  const start = text.indexOf('{');
  let depth = 0;
  for (let p = start; p >= 0 && p < text.length; p++) {
    const c = text[p];
    if (c === '"') for (p++; p < text.length && text[p] !== '"'; p++) if (text[p] === '\\') p++;
    if (c === '{') depth++;
    if (c === '}' && --depth === 0) return text.slice(start, p + 1);
  }
  return '';
}
