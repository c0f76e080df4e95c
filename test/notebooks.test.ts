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
        outputs: z
          .array(
            z
              .object({
                output_type: z.enum(['stream', 'display_data']),
                text: z.array(z.string()).optional(),
                data: z.object({ 'text/html': z.array(z.string()) }).optional(),
              })
              .loose(),
          )
          .optional(),
        execution_count: z.int().optional(),
      })
      .loose(),
  ),
});
const notebooks = readdirSync(folder).filter((name) => name.endsWith('.ipynb'));
const read = (name: string) => Notebook.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));

test('there is a notebook', () => {
  expect(notebooks.length).toBeGreaterThan(0);
});

describe.each(notebooks)('%s', (name) => {
  let kernel: Kernel;
  beforeAll(async () => {
    kernel = await startKernel(folder);
  });
  afterAll(async () => {
    await kernel?.stop();
  });

  test('every cell runs, and says what is saved with it (npm run notebooks saves)', async () => {
    expect(existsSync(resolve(folder, '../dist/index.js')), 'dist is missing: npm run build').toBe(true);
    for (const [i, cell] of read(name).cells.entries()) {
      if (cell.cell_type !== 'code') continue;
      const output = await kernel.execute([cell.source].flat().join(''));
      expect(output.error, `cell ${i}`).toBeNull();
      const saved = (cell.outputs ?? []).flatMap((o) => o.text ?? []).join('');
      expect(output.text, `cell ${i}`).toBe(saved);
      expect(output.html.length, `cell ${i}`).toBe((cell.outputs ?? []).filter((o) => o.data).length);
    }
  });
});
