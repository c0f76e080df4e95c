import { check } from '../inspect/check.ts';
import { counted, formatCount } from '../report/format.ts';
import { firstLine, inline } from '../report/plain.ts';
import type { Check, Finding } from '../schema/check.ts';
import { type Command, jsonOption, storeOptions } from './command.ts';
import { openGiven } from './open-store.ts';

export const checkCommand: Command = {
  name: 'check',
  summary: 'what is wrong with the logs in a store, and how to fix it',
  options: {
    ...storeOptions,
    strict: { type: 'boolean', help: 'exit 1 if there is a finding of severity error' },
    json: jsonOption,
  },
  examples: ['turnwise check --store runs.duckdb', 'turnwise check --store runs.duckdb --strict'],
  async run(values, _positionals, io) {
    const store = await openGiven(values, 'read');
    try {
      const result = await check(store);
      io.out(values.json ? `${JSON.stringify(result, null, 2)}\n` : checkText(result));
      return values.strict && result.errors > 0 ? 1 : 0;
    } finally {
      store.close();
    }
  },
};

/** The findings for a person, errors first. */
export function checkText(c: Check): string {
  const of = `${counted(c.episodes, 'episode')}, ${counted(c.turns, 'turn')}, ${c.checks.length} checks`;
  const head =
    c.findings.length === 0
      ? `${c.store}: nothing found (${of})\n`
      : `${c.store}: ${counted(c.errors, 'error')}, ${counted(c.warnings, 'warning')}, ${counted(c.notes, 'note')} (${of})\n`;
  return [head, ...c.findings.map(findingText)].join('\n');
}

function findingText(f: Finding): string {
  const lines = [`${f.severity}  ${f.code}  ${formatCount(f.count)}: ${f.message}`];
  for (const e of f.examples.slice(0, 3)) {
    const place = [
      e.episode === null ? '' : `episode ${inline(e.episode)}`,
      e.turn === null ? '' : `turn ${e.turn}`,
      e.segment === null ? '' : `segment ${e.segment}`,
      e.column,
    ].filter((part) => part !== '');
    const value = e.value === null ? '' : `: ${firstLine(e.value, 80)}`;
    lines.push(`    ${firstLine(place.join(', '), 120)}${value}`);
  }
  lines.push(`    fix: ${f.fix}`);
  return `${lines.join('\n')}\n`;
}
