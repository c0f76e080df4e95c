import { formatCount, formatNumber } from '../report/format.ts';
import type { Devices } from '../schema/devices.ts';
import { devices } from '../tensor/devices.ts';
import { whole } from './arguments.ts';
import { type Command, jsonOption } from './command.ts';
import { table } from './table.ts';

export const devicesCommand: Command = {
  name: 'devices',
  summary: 'what tensors run on here, why the others are not there, and how fast each is',
  options: {
    threads: {
      type: 'string',
      value: 'N',
      help: 'threads of the native and the wasm runtime; default: all cores',
    },
    json: jsonOption,
  },
  examples: ['turnwise devices', 'turnwise devices --json', 'TURNWISE_BACKEND=onnx-web turnwise devices'],
  notes: [
    'Product: float32, 1024 × 1024 by 1024 × 1024. Step: gradient, clip and AdamW of an MLP 64-256-256-1 on 256 rows.',
  ],
  async run(values, _positionals, io) {
    const threads = whole(values, 'threads', 1);
    const found = await devices({ threads, onBackend: (name) => io.progress(`measuring ${name}`) });
    io.progress('');
    io.out(values.json === true ? `${JSON.stringify(found, null, 2)}\n` : devicesText(found));
    return 0;
  },
};

/** The devices for a person: those that run with their times, the others with the reason. */
export function devicesText({ taken, why, devices: all }: Devices): string {
  const [here, missing] = [all.filter((d) => d.runs), all.filter((d) => !d.runs)];
  const parts = [
    table(
      ['backend', 'product', 'GFLOP/s', 'step', 'runs on'],
      here.map((d) => [
        d.backend,
        milliseconds(d.productSeconds),
        formatNumber(d.productGflops, 1),
        milliseconds(d.stepSeconds),
        d.label ?? '',
      ]),
      [1, 2, 3],
    ),
  ];
  if (missing.length > 0)
    parts.push(
      `Not here\n${table(
        ['backend', 'why'],
        missing.map((d) => [d.backend, d.whyNot ?? '']),
        [],
        200,
      )}`,
    );
  parts.push(`Taken: ${taken ?? 'none'}, ${why}.\n`);
  return parts.join('\n');
}

function milliseconds(seconds: number | null): string {
  if (seconds === null) return '–';
  const ms = seconds * 1000;
  return `${ms >= 100 ? formatCount(Math.round(ms)) : formatNumber(ms, 1)} ms`;
}
