import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Kernel, startKernel } from './helpers/kernel.ts';

const folder = resolve(import.meta.dirname, '../notebooks');
const Notebook = z.object({
  nbformat: z.literal(4),
  metadata: z
    .object({ kernelspec: z.object({ name: z.literal('tslab'), language: z.literal('typescript') }).loose() })
    .loose(),
  cells: z.array(
    z
      .object({
        cell_type: z.enum(['code', 'markdown']),
        source: z.union([z.string(), z.array(z.string())]),
        outputs: z.array(z.unknown()).optional(),
        execution_count: z.null().optional(),
      })
      .loose(),
  ),
});
const notebooks = readdirSync(folder).filter((name) => name.endsWith('.ipynb'));
const read = (name: string) => Notebook.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));

test('there is a notebook, and its outputs are stripped', () => {
  expect(notebooks.length).toBeGreaterThan(0);
  for (const name of notebooks) for (const cell of read(name).cells) expect(cell.outputs ?? []).toEqual([]);
});

describe.each(notebooks)('%s', (name) => {
  let kernel: Kernel;
  beforeAll(async () => {
    kernel = await startKernel(folder);
  });
  afterAll(async () => {
    await kernel?.stop();
  });

  test('every cell runs', async () => {
    expect(existsSync(resolve(folder, '../dist/index.js')), 'dist is missing: npm run build').toBe(true);
    for (const [i, cell] of read(name).cells.entries()) {
      if (cell.cell_type !== 'code') continue;
      const output = await kernel.execute([cell.source].flat().join(''));
      expect(output.error, `cell ${i}`).toBeNull();
    }
  });
});
