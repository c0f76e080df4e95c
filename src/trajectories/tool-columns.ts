import { type Coder, internText } from './coder.ts';
import type { SparseBuilder } from './sparse-builder.ts';

/**
 * Columns for tools whose names are only known once all turns were read: entries are written as
 * `base` + code of the name, at the end of each row, and renumbered when the columns are chosen.
 */
export interface ToolColumns {
  readonly base: number;
  readonly names: Pick<Coder, 'values' | 'seen'>;
  /** Calls of each tool, by code. */
  readonly counts: number[];
}

export interface ToolChoice {
  readonly tools: 'auto' | readonly string[];
  readonly maxTools: number;
}

export function toolColumns(base: number): ToolColumns {
  return { base, names: { values: [], seen: new Map() }, counts: [] };
}

/** Code of a tool that was called, counting the call. */
export function countTool(c: ToolColumns, name: string): number {
  const code = internText(c.names, name);
  c.counts[code] = (c.counts[code] ?? 0) + 1;
  return code;
}

/**
 * Renumbers the tool entries in place and gives the columns' names: `<prefix>=<tool>` in order of
 * name, then `<prefix>.other` for all tools without a column. A row names each column once.
 */
export function chooseTools(
  c: ToolColumns,
  out: SparseBuilder,
  choice: ToolChoice,
  prefix: string,
): string[] {
  const names = c.names.values;
  const kept = choice.tools === 'auto' ? mostFrequent(c, choice.maxTools) : [...new Set(choice.tools)];
  kept.sort(byText);
  const place = new Map(kept.map((name, i) => [name, i]));
  const column = Int32Array.from(names, (name) => c.base + (place.get(name) ?? kept.length));
  renumber(out, c.base, column);
  const columns = kept.map((name) => `${prefix}=${name}`);
  // A declared list always has `other`, so that two stores get the same columns.
  if (choice.tools !== 'auto' || kept.length < names.length) columns.push(`${prefix}.other`);
  return columns;
}

function mostFrequent(c: ToolColumns, most: number): string[] {
  const codes = c.counts.map((_, i) => i);
  codes.sort((a, b) => c.counts[b]! - c.counts[a]! || byText(c.names.values[a]!, c.names.values[b]!));
  return codes.slice(0, most).map((i) => c.names.values[i]!);
}

/** Rows only shrink, so entries move to the left over what was already read. */
function renumber(out: SparseBuilder, base: number, column: Int32Array): void {
  let write = 0;
  let read = 0;
  for (let r = 0; r < out.row; r++) {
    const end = out.offsets[r + 1]!;
    for (; read < end && out.indices[read]! < base; read++, write++) {
      out.indices[write] = out.indices[read]!;
      out.values[write] = out.values[read]!;
    }
    const first = write;
    for (; read < end; read++) {
      const i = column[out.indices[read]! - base]!;
      let at = write; // the few tools of a row are put in order as they come
      while (at > first && out.indices[at - 1]! > i) at--;
      if (at > first && out.indices[at - 1] === i) continue;
      out.indices.copyWithin(at + 1, at, write);
      out.indices[at] = i;
      out.values[write++] = 1;
    }
    out.offsets[r + 1] = write;
  }
  out.size = write;
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
