import { recognisers } from './formats/formats.ts';
import type { FormatName, Unit } from './log-format.ts';
import { firstElement, HEAD_BYTES, layout, parsed } from './record-unit.ts';

export { HEAD_BYTES };

/** Records asked; the first may be the bad one. */
const RECORDS = 20;

/**
 * The format of a file from its first bytes: by magic number, else by asking every format about the
 * first records that parse; undefined where none knows it. `wholeLine`: the bytes hold at least one line to its end.
 */
export function detectFormat(path: string, head: Uint8Array, wholeLine = true): FormatName | undefined {
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
  if (wholeLine && records.length === 0 && /\.(jsonl|ndjson)(\.gz|\.zst)?$/i.test(path)) return 'canonical';
  return undefined;
}

interface Sample {
  readonly record: unknown;
  /** `any`: one record that is the whole file, as a line or as a document. */
  readonly unit: Unit | 'any';
}

function firstRecords(head: Buffer): readonly Sample[] {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  const unit = layout(text, head.length >= HEAD_BYTES);
  if (unit === 'line') {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    // The last line may be cut by the end of the head.
    return lines
      .slice(0, RECORDS)
      .flatMap(recordOf)
      .map((record) => ({ record, unit: lines.length === 1 ? 'any' : 'line' }));
  }
  const [document] = recordOf(text);
  if (unit === 'document') return document === undefined ? [] : [{ record: document, unit }];
  const records = Array.isArray(document)
    ? document.slice(0, RECORDS)
    : recordOf(firstElement(text, text.indexOf('[')));
  return records.map((record) => ({ record, unit }));
}

/** An object or an array; a line of anything else is no record. */
function recordOf(text: string): unknown[] {
  const value = parsed(text);
  return typeof value === 'object' && value !== null ? [value] : [];
}
