/*
 * Parameters and what the optimiser keeps of them, in one safetensors file: `parameters/…`, `adamw.m/…`, `adamw.v/…`,
 * with the step count and the configuration as metadata. Read back, it gives the same next step bit for bit.
 */
import { failure } from '../schema/error.ts';
import { type AdamW, AdamWConfig } from './adamw.ts';
import type { Tensors } from './open-tensors.ts';
import { openSafetensors, type SafeTensor, type SafetensorsFile, writeSafetensors } from './safetensors.ts';

const FORMAT = 'turnwise checkpoint 1';
const GROUPS = [
  ['parameters', 'parameters'],
  ['adamw.m', 'm'],
  ['adamw.v', 'v'],
] as const;

/**
 * Writes parameters, moments, step count and configuration as one safetensors file, whole or not at all.
 * @throws while a step is on its way
 */
export async function saveCheckpoint(optimiser: AdamW, path: string): Promise<void> {
  checkIdle(optimiser, path);
  const tensors: Record<string, SafeTensor> = {};
  for (const [prefix, group] of GROUPS)
    for (const [name, variable] of Object.entries(optimiser[group])) {
      const values = (await variable.data()) as Float32Array;
      tensors[`${prefix}/${name}`] = { dtype: 'F32', shape: variable.shape, values };
    }
  const { step, config } = optimiser;
  await writeSafetensors(path, tensors, { format: FORMAT, step: `${step}`, adamw: JSON.stringify(config) });
}

/**
 * Reads a checkpoint into an optimiser and its parameters: all of it, or nothing where something does not fit.
 * @throws where the file holds other parameters, other shapes or another configuration
 */
export async function loadCheckpoint(
  { tf }: Pick<Tensors, 'tf'>,
  optimiser: AdamW,
  path: string,
): Promise<void> {
  checkIdle(optimiser, path);
  const file = await openSafetensors(path);
  try {
    const step = checkMetadata(file, optimiser.config);
    const places = GROUPS.flatMap(([prefix, group]) =>
      Object.entries(optimiser[group]).map(([name, variable]) => ({ at: `${prefix}/${name}`, variable })),
    );
    const known = new Set(places.map(({ at }) => at));
    for (const name of file.entries.keys())
      if (!known.has(name)) throw failure({ subject: path, wrong: `holds ${name}, which the model has not` });
    const read: Float32Array[] = [];
    for (const { at, variable } of places) {
      const entry = file.entries.get(at);
      if (entry === undefined) throw failure({ subject: path, wrong: `holds no ${at}` });
      const expected = `F32 [${variable.shape.join(', ')}]`;
      const got = `${entry.dtype} [${entry.shape.join(', ')}]`;
      if (got !== expected)
        throw failure({ subject: `${path}: ${at}`, wrong: 'has another shape', got, expected });
      read.push((await file.read(at)) as Float32Array);
    }
    tf.tidy(() => {
      places.forEach(({ variable }, k) => {
        variable.assign(tf.tensor(read[k]!, variable.shape, 'float32'));
      });
    });
    optimiser.step = step;
  } finally {
    await file.close();
  }
}

/** The step count. */
function checkMetadata({ path, metadata }: SafetensorsFile, config: AdamWConfig): number {
  if (metadata.format !== FORMAT)
    throw failure({
      subject: path,
      wrong: 'is no checkpoint',
      got: `format ${JSON.stringify(metadata.format)}`,
      expected: `"${FORMAT}"`,
    });
  const step = Number(metadata.step);
  if (!Number.isSafeInteger(step) || step < 0 || metadata.step === '')
    throw failure({ subject: path, wrong: 'the step count is no whole number', got: `${metadata.step}` });
  const own = parsed(path, metadata.adamw);
  for (const key of Object.keys(AdamWConfig.shape) as (keyof AdamWConfig)[])
    if (own[key] !== config[key])
      throw failure({
        subject: path,
        wrong: `was trained with another ${key}`,
        got: `${own[key]}`,
        expected: `${config[key]}`,
        fix:
          key === 'learningRate'
            ? 'Make the optimiser with that of the checkpoint; gradientStep takes another for each step.'
            : 'Make the optimiser with the configuration of the checkpoint.',
      });
  return step;
}

function parsed(path: string, text: string | undefined): AdamWConfig {
  try {
    return AdamWConfig.parse(JSON.parse(text ?? ''));
  } catch (cause) {
    throw failure({ subject: path, wrong: 'the configuration of the optimiser cannot be read', cause });
  }
}

function checkIdle({ busy }: AdamW, path: string): void {
  if (busy)
    throw failure({ subject: path, wrong: 'a step has not ended', fix: 'Await it before the checkpoint.' });
}
