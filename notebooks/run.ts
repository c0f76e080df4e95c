/*
 * `npm run notebooks`: runs every notebook in a kernel of its own, without Python, and saves what its cells gave.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startKernel } from '../test/helpers/kernel.ts';

interface Cell {
  id?: string;
  cell_type: 'code' | 'markdown';
  source: string | string[];
  outputs?: object[];
  execution_count?: number | null;
}

const folder = import.meta.dirname;
/** As the format keeps texts: line by line, each with its end. */
const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

for (const name of readdirSync(folder).filter((file) => file.endsWith('.ipynb'))) {
  const path = join(folder, name);
  const notebook = JSON.parse(readFileSync(path, 'utf8')) as { nbformat_minor: number; cells: Cell[] };
  const kernel = await startKernel(folder);
  try {
    let count = 0;
    for (const [i, cell] of notebook.cells.entries()) {
      cell.id = `cell-${i}`; // asked for since version 4.5 of the format
      if (cell.cell_type !== 'code') continue;
      const { text, html, error } = await kernel.execute([cell.source].flat().join(''));
      if (error !== null) throw new Error(`${name}, cell ${i}: ${error}`);
      cell.execution_count = ++count;
      cell.outputs = [
        ...(text === '' ? [] : [{ output_type: 'stream', name: 'stdout', text: linesOf(text) }]),
        ...html.map((page) => ({
          output_type: 'display_data',
          metadata: {},
          data: { 'text/html': linesOf(page) },
        })),
      ];
    }
  } finally {
    await kernel.stop();
  }
  notebook.nbformat_minor = 5;
  writeFileSync(path, `${JSON.stringify(notebook, null, 1)}\n`);
  process.stdout.write(`${name}: outputs saved\n`);
}
