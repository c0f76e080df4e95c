/*
 * Assembles the backend node-gpu: @tensorflow/tfjs-node-gpu over a TensorFlow that is already on this machine.
 * `npm run node-gpu -- site-packages/tensorflow [--out FOLDER] [--node-headers FOLDER]`
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { failure, TurnwiseError } from '../../schema/error.ts';
import { openTensors } from '../open-tensors.ts';
import { DEFAULT_FOLDER, FOLDER_VARIABLE, MARKER } from './assembled.ts';
import { buildBinding, checkBuildTools } from './build-binding.ts';
import { installPackages } from './install-packages.ts';
import { findLibtensorflow } from './libtensorflow.ts';
import { findNodeHeaders } from './node-headers.ts';

const USAGE = 'npm run node-gpu -- TENSORFLOW [--out FOLDER] [--node-headers FOLDER]';

try {
  await assemble(process.argv.slice(2));
} catch (error) {
  const known = error instanceof TurnwiseError;
  process.stderr.write(`${known ? error.message : (error as Error).stack}\n`);
  process.exitCode = known ? error.exitCode : 1;
}

async function assemble(args: readonly string[]): Promise<void> {
  const { given, out, headers } = read(args);
  const tensorflow = findLibtensorflow(resolve(given));
  const nodeHome = findNodeHeaders(headers);
  checkBuildTools();
  const folder = resolve(out ?? DEFAULT_FOLDER);
  buildBinding(installPackages(folder), tensorflow, nodeHome);
  writeFileSync(join(folder, MARKER), `${JSON.stringify({ tensorflow: tensorflow.folder }, null, 2)}\n`);
  process.env[FOLDER_VARIABLE] = folder;
  const tensors = await openTensors({ backend: 'node-gpu' });
  process.stdout.write(`${tensors.label}\n`);
  if (out !== undefined) process.stdout.write(`${FOLDER_VARIABLE}=${folder} names it\n`);
  await tensors.close();
}

function read(args: readonly string[]) {
  if (process.platform !== 'linux')
    throw failure({ subject: 'node-gpu', wrong: 'is assembled on Linux only', got: process.platform });
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { out: { type: 'string' }, 'node-headers': { type: 'string' } },
      allowPositionals: true,
    });
    if (positionals.length !== 1) throw new Error(`one folder, got ${positionals.length}`);
    return { given: positionals[0]!, out: values.out, headers: values['node-headers'] };
  } catch (error) {
    throw failure({
      subject: 'node-gpu',
      wrong: (error as Error).message,
      fix: `Usage: ${USAGE}`,
      exitCode: 2,
      cause: error,
    });
  }
}
