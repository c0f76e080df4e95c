import { execFileSync } from 'node:child_process';
import { copyFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/** Compiles the sources into a folder, as `npm run build` does, and returns where the modules are. */
export function built(folder: string): string {
  const dist = join(folder, 'dist');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', dist], {
      stdio: 'pipe',
    });
  } catch (error) {
    process.stderr.write(`${(error as { stdout: Buffer }).stdout}`);
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  return dist;
}
