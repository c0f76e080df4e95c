import { ingest, MAX_RECORD_MB } from '../ingest/ingest.ts';
import { findInputs } from '../ingest/inputs.ts';
import { FORMAT_NAMES, type FormatName } from '../ingest/log-format.ts';
import { failure } from '../schema/error.ts';
import type { IngestedFile, IngestResult } from '../schema/ingest-result.ts';
import { openStore } from '../store/store.ts';
import { text, whole } from './arguments.ts';
import { type Command, jsonOption, storeOption } from './command.ts';

export const ingestCommand: Command = {
  name: 'ingest',
  summary: 'Read log files into a store; a file already there adds nothing.',
  positionals: '<files…>',
  options: {
    store: storeOption,
    format: {
      type: 'string',
      value: 'NAME',
      default: 'auto',
      help: `auto, ${FORMAT_NAMES.join(', ')}`,
    },
    rewards: {
      type: 'string',
      value: 'FILE',
      help: 'rewards to join by episode: JSONL, CSV, JSON, or a folder of trials',
    },
    strict: { type: 'boolean', help: 'a record that cannot be read refuses its file: nothing of it is kept' },
    'max-record-mb': {
      type: 'string',
      value: 'N',
      default: String(MAX_RECORD_MB),
      help: 'longest record; a longer one is rejected',
    },
    json: jsonOption,
  },
  examples: [
    'turnwise ingest logs/*.jsonl --store runs.duckdb',
    'turnwise ingest "logs/**/*.jsonl.gz" --store runs.duckdb --strict',
    'turnwise ingest trajectories/*.json --rewards results.csv --store runs.duckdb',
    'cat run.jsonl | turnwise ingest - --store runs.duckdb',
  ],
  async run(values, positionals, io) {
    const format = formatOf(text(values, 'format'));
    const maxRecordMb = whole(values, 'max-record-mb', 1);
    // Before the store is made: a mistyped name leaves nothing behind.
    const paths = await findInputs(positionals);
    const path = text(values, 'store')!;
    const store = await openStore(path, { mode: 'create', memoryLimit: '256MB' });
    let result: IngestResult;
    try {
      result = await ingest(store, paths, {
        format,
        maxRecordMb,
        strict: values.strict === true,
        rewards: text(values, 'rewards'),
        stdin: io.stdin,
        onProgress: ({ path, records, bytes }) =>
          io.progress(`${path}: ${records.toLocaleString('en')} records, ${(bytes / 1e6).toFixed(0)} MB`),
      });
    } finally {
      store.close();
    }
    const refused = result.files.filter((f) => f.status === 'refused');
    if (values.json === true) io.out(`${JSON.stringify(result, null, 2)}\n`);
    else {
      io.out(summary(result));
      for (const { code, count, message } of result.warnings)
        io.err(`warning: ${count === undefined ? '' : `${count} `}${message} (${code})\n`);
    }
    if (refused.length === 0) return 0;
    io.err(`error: --strict: nothing kept of ${refused.map((f) => f.path).join(', ')}\n`);
    return 1;
  },
};

function formatOf(name: string | undefined): FormatName | 'auto' {
  if (name === undefined || name === 'auto') return 'auto';
  if ((FORMAT_NAMES as readonly string[]).includes(name)) return name as FormatName;
  throw failure({
    subject: '--format',
    wrong: 'unknown format',
    got: `"${name}"`,
    expected: `auto, ${FORMAT_NAMES.join(', ')}`,
    exitCode: 2,
  });
}

function summary(result: IngestResult): string {
  const lines: string[] = [];
  for (const file of result.files) {
    lines.push(`${file.path}: ${fileLine(file)}`);
    for (const { line, byteOffset, reason, excerpt } of file.firstRejects) {
      const at = [line === null ? '' : `line ${line}`, byteOffset === null ? '' : `byte ${byteOffset}`];
      const place = at.filter(Boolean).join(', ');
      lines.push(`  rejected${place === '' ? '' : ` ${place}`}: ${reason}`);
      if (excerpt !== '') lines.push(`    ${excerpt.slice(0, 100).replaceAll('\n', ' ')}`);
    }
    const more = file.rejects - file.firstRejects.length;
    if (more > 0) lines.push(`  … and ${more} more${file.status === 'added' ? ', in table "rejects"' : ''}`);
  }
  const { files, episodes, turns, scores, rejects } = result;
  lines.push(
    `${result.store}: ${counted(files.length, 'file')}, ${counted(episodes, 'episode')} with ${counted(turns, 'turn')}${scores > 0 ? `, ${counted(scores, 'score')}` : ''} added, ${counted(rejects, 'reject')}`,
  );
  if (files.some((f) => f.status === 'added' && f.rejects > 0))
    lines.push(`Rejects by reason: turnwise describe --store ${result.store}`);
  return `${lines.join('\n')}\n`;
}

function fileLine(file: IngestedFile): string {
  const { format, status, episodes, turns, scores, rejects } = file;
  if (status === 'known') return `${format}, already there: nothing added`;
  if (status === 'empty') return 'empty: nothing added';
  if (status === 'refused') return `${format}, refused: ${counted(rejects, 'reject')}, nothing kept`;
  const what =
    format === 'scores'
      ? counted(scores, 'score')
      : `${counted(episodes, 'episode')}, ${counted(turns, 'turn')}`;
  return `${format}, ${what}, ${counted(rejects, 'reject')}`;
}

function counted(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
}
