/*
 * What is left after a crash, and what damaged files do: the built command line is killed, interrupted and fed with
 * rubbish, and what it leaves is compared with what must be there. `--scale S` takes S times the tries; `--only NAME`
 * one of the parts.
 */
import { inputs } from './damage/inputs.ts';
import { kills } from './damage/kills.ts';
import { type Lab, openLab, type Tally } from './damage/lab.ts';
import { type Logs, makeLogs } from './damage/logs.ts';
import { damagedStores, logsOfChanges } from './damage/stores.ts';
import { openSums, type Sums } from './damage/sums.ts';
import { writers } from './damage/writers.ts';
import { machine, type Study } from './result.ts';

const PARTS: Readonly<Record<string, (lab: Lab, logs: Logs, sums: Sums) => Promise<Tally[]>>> = {
  kills,
  writers,
  stores: damagedStores,
  wal: logsOfChanges,
  inputs,
};

export interface DamageStudy {
  readonly machine: string;
  readonly scale: number;
  readonly rows: readonly Tally[];
  /** Tries that came out wrong, crashed or hung. */
  readonly faults: number;
}

export async function bench(flags: readonly string[]): Promise<Study> {
  const data = await damage(Number(flagged(flags, '--scale') ?? 1), flagged(flags, '--only')?.split(','));
  return { data, text: textOf(data) };
}

export async function damage(
  scale: number,
  only: readonly string[] = Object.keys(PARTS),
): Promise<DamageStudy> {
  const lab = openLab(scale);
  const sums = openSums();
  try {
    const logs = await makeLogs(lab, sums);
    const rows: Tally[] = [];
    for (const name of only) rows.push(...(await PARTS[name]!(lab, logs, sums)));
    const faults = rows.reduce((n, r) => n + r.wrong + r.crashed + r.hung, 0);
    return { machine: machine(), scale, rows, faults };
  } finally {
    sums.close();
    lab.remove();
  }
}

function flagged(flags: readonly string[], name: string): string | undefined {
  const at = flags.indexOf(name);
  return at < 0 ? undefined : flags[at + 1];
}

function textOf({ machine, rows, faults }: DamageStudy): string {
  const head = ['what', 'tries', 'held', 'refused', 'wrong', 'crashed', 'hung', 'seen'];
  const cells = rows.map((r) =>
    [r.what, r.tries, r.held, r.refused, r.wrong, r.crashed, r.hung, r.note].map(String),
  );
  const widths = head.map((h, k) => cells.reduce((w, c) => Math.max(w, c[k]!.length), h.length));
  const line = (c: readonly string[]) =>
    c
      .map((text, k) => text.padEnd(k === 7 ? 0 : widths[k]!))
      .join('  ')
      .trimEnd();
  return [`crash and damage, ${machine}`, '', line(head), ...cells.map(line), `${faults} faults`, ''].join(
    '\n',
  );
}
