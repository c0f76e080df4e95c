/** One column of small codes, from −1 (none) to `size` − 1. */
export interface CodedColumn {
  readonly codes: Int32Array;
  readonly size: number;
}

/** Rows that are alike in every column have one number, dense in order of first appearance. */
export interface RowGroups {
  readonly of: Int32Array; // [rows given]
  /** [groups] place in `rows` of the first of each. */
  readonly first: Int32Array;
}

/**
 * Groups rows by their codes. Codes are packed into one number only as far as it stays exact: before it
 * would pass 2^53 the groups so far are counted and stand for the columns behind them.
 * O(rows × columns), and a look-up a row each time groups are counted.
 */
export function groupRows(rows: Int32Array, columns: readonly CodedColumn[]): RowGroups {
  const key = new Float64Array(rows.length);
  let radix = 1;
  for (const { codes, size } of columns) {
    const own = size + 1;
    if (radix * own > Number.MAX_SAFE_INTEGER) radix = count(key).length;
    for (let i = 0; i < rows.length; i++) key[i] = key[i]! + radix * (codes[rows[i]!]! + 1);
    radix *= own;
  }
  const first = count(key);
  return { of: Int32Array.from(key), first };
}

/** Replaces each key by the number of its group; the place where each group is first met. */
function count(key: Float64Array): Int32Array {
  const groups = new Map<number, number>();
  const first: number[] = [];
  for (let i = 0; i < key.length; i++) {
    let group = groups.get(key[i]!);
    if (group === undefined) {
      group = groups.size;
      groups.set(key[i]!, group);
      first.push(i);
    }
    key[i] = group;
  }
  return Int32Array.from(first);
}
