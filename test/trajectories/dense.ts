import type { SparseRows } from '../../src/trajectories/sparse.ts';

/** Row i by column name, zeros left out. */
export function named(rows: SparseRows, i: number): Record<string, number> {
  const out: Record<string, number> = {};
  for (let j = rows.offsets[i]!; j < rows.offsets[i + 1]!; j++)
    out[rows.names[rows.indices[j]!]!] = rows.values[j]!;
  return out;
}

/** What every sparse matrix keeps to; returns what it breaks. */
export function broken(rows: SparseRows): string[] {
  const wrong: string[] = [];
  if (rows.names.length !== rows.columns) wrong.push('names');
  if (new Set(rows.names).size !== rows.columns) wrong.push('a name twice');
  if (rows.offsets.length !== rows.rows + 1 || rows.offsets.at(-1) !== rows.indices.length)
    wrong.push('offsets');
  if (rows.indices.length !== rows.values.length) wrong.push('lengths');
  for (let i = 0; i < rows.rows; i++)
    for (let j = rows.offsets[i]!; j < rows.offsets[i + 1]!; j++) {
      if (j > rows.offsets[i]! && rows.indices[j]! <= rows.indices[j - 1]!)
        wrong.push(`row ${i} does not ascend`);
      if (rows.indices[j]! < 0 || rows.indices[j]! >= rows.columns) wrong.push(`row ${i} leaves the columns`);
      if (rows.values[j] === 0 || !Number.isFinite(rows.values[j]))
        wrong.push(`row ${i} holds ${rows.values[j]}`);
    }
  return wrong;
}
