import type { Command } from './command.ts';

/** Help of one command: examples first. */
export function commandHelp(command: Command): string {
  const lines = [`${command.summary}`, '', 'Examples'];
  for (const example of command.examples) lines.push(`  ${example}`);
  const args = command.positionals ? ` ${command.positionals}` : '';
  lines.push('', `Usage: turnwise ${command.name}${args} [options]`, '', 'Options');
  const rows = Object.entries(command.options).map(([name, o]) => {
    const flag = `--${name}${o.type === 'string' ? ` ${o.absent === undefined ? (o.value ?? 'TEXT') : `[${o.value}]`}` : ''}`;
    const notes = [
      o.required ? 'required' : '',
      o.absent !== undefined ? `alone ${o.absent}` : '',
      o.default !== undefined ? `default ${o.default}` : '',
      o.multiple ? 'may be repeated' : '',
    ].filter(Boolean);
    return [flag, notes.length > 0 ? `${o.help} (${notes.join(', ')})` : o.help] as const;
  });
  const width = Math.max(...rows.map(([flag]) => flag.length), '--help'.length);
  for (const [flag, help] of [...rows, ['--help', 'this text'] as const])
    lines.push(`  ${flag.padEnd(width)}  ${help}`);
  if (command.notes) lines.push('', ...command.notes);
  return `${lines.join('\n')}\n`;
}

/** Help of the program. */
export function programHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((c) => c.name.length));
  return [
    'turnwise: offline reinforcement learning for logged multi-turn agent trajectories',
    '',
    'Examples',
    '  turnwise demo',
    '  turnwise ingest logs/*.jsonl --store runs.duckdb',
    '  turnwise describe --store runs.duckdb',
    '  turnwise credit --store runs.duckdb --episode run-17',
    '  turnwise audit --store runs.duckdb --target candidate.json',
    '',
    'Commands',
    ...commands.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`),
    '',
    'Exit codes: 0 fine, 1 failed, 2 usage, 3 the logs cannot answer (the audit says no).',
    '"turnwise help COMMAND" tells more.',
    '',
  ].join('\n');
}
