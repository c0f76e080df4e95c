import { ACTION_CLASS_HELP, actionClasses } from '../ingest/action-class.ts';
import { ingestInputs, MAX_RECORD_MB } from '../ingest/ingest.ts';
import { findInputs } from '../ingest/inputs.ts';
import { FORMAT_NAMES, type FormatName } from '../ingest/log-format.ts';
import { failure } from '../schema/error.ts';
import { text, whole } from './arguments.ts';
import { type Command, jsonOption, storeOptions } from './command.ts';
import { ingestErrors, ingestText } from './ingest-text.ts';
import { withCreatedStore } from './new-store.ts';
import { givenMemory } from './open-store.ts';

export const ingestCommand: Command = {
  name: 'ingest',
  summary: 'Read log files into a store; a file already there adds nothing.',
  positionals: '<files…>',
  options: {
    ...storeOptions,
    format: {
      type: 'string',
      value: 'NAME',
      default: 'auto',
      help: `auto, ${FORMAT_NAMES.join(', ')}`,
    },
    rewards: {
      type: 'string',
      value: 'FILE',
      help: 'rewards to join by episode: JSONL, CSV, JSON, or a folder of trials; see below',
    },
    'id-prefix': {
      type: 'string',
      value: 'PREFIX',
      help: 'put before every episode_id of these files, for runs whose ids start over; give scores of them the same',
    },
    strict: { type: 'boolean', help: 'a record that cannot be read refuses its file: nothing of it is kept' },
    'max-record-mb': {
      type: 'string',
      value: 'N',
      default: String(MAX_RECORD_MB),
      help: 'longest record; a longer one is rejected',
    },
    'action-class': { type: 'string', value: 'RULE', help: ACTION_CLASS_HELP },
    json: jsonOption,
  },
  examples: [
    'turnwise ingest logs/*.jsonl --store runs.duckdb',
    'turnwise ingest "logs/**/*.jsonl.gz" --store runs.duckdb --strict',
    'turnwise ingest run-2.jsonl --id-prefix run-2/ --store runs.duckdb',
    'turnwise ingest trajectories/*.json --rewards results.csv --store runs.duckdb',
    'cat run.jsonl | turnwise ingest - --store runs.duckdb',
  ],
  notes: [
    'Action classes: "tool" takes the name of the tool that a turn calls (several: joined by +; none: no-tool);',
    '"column:NAME" a field of the turn, or of the assistant\'s message; "/PATTERN/" what a regular expression matches in the',
    "action's text, its first group if it has one. A class that the log declares stays. With classes, logs without",
    'propensities can be audited with --estimate-propensities.',
    '',
    'Rewards: columns episode_id (or session_id, trial_name), reward, and if wanted rewards, task_id; see',
    '"turnwise schema rewards". They are also joined to episodes that are in the store and have none yet.',
    '',
    'An episode that is stored already, word for word, adds nothing. Another episode under a known episode_id is rejected',
    '(id-conflict): ingest the file again with --id-prefix. Rewards and their file keep the names of the log.',
    '',
    'Exit 1: a file cannot be read or is not recognised, holds no record or gives nothing but rejects, more than half',
    'of its records are rejected, or one of them for an episode_id that another episode has; the other files are read',
    'all the same. A store that would be new and got nothing is not made.',
  ],
  undone: true,
  async run(values, positionals, io) {
    const format = formatOf(text(values, 'format'));
    const maxRecordMb = whole(values, 'max-record-mb', 1);
    // Before the store is made: a mistyped name leaves nothing behind.
    const actionClass = text(values, 'action-class');
    if (actionClass !== undefined) actionClasses(actionClass);
    const path = text(values, 'store')!;
    const rewards = text(values, 'rewards');
    const inputs = await findInputs(positionals, { store: path, rewards });
    const { result, kept } = await withCreatedStore(
      path,
      { ...givenMemory(values), startLimit: '256MB' },
      io,
      (store, keep) =>
        ingestInputs(store, inputs, {
          format,
          maxRecordMb,
          strict: values.strict === true,
          rewards,
          idPrefix: text(values, 'id-prefix'),
          actionClass,
          stdin: io.stdin,
          onProgress: ({ path, records, bytes }) =>
            io.progress(`${path}: ${records.toLocaleString('en')} records, ${(bytes / 1e6).toFixed(0)} MB`),
          onFile: ({ status }) => {
            if (status === 'added') keep();
          },
        }),
    );
    if (values.json === true)
      io.out(`${JSON.stringify({ ...result, store: kept ? result.store : null }, null, 2)}\n`);
    else {
      io.out(ingestText(result, kept));
      // An empty file is an error here, told below.
      for (const { code, count, message } of result.warnings)
        if (code !== 'empty-file')
          io.err(`warning: ${count === undefined ? '' : `${count} `}${message} (${code})\n`);
    }
    const errors = ingestErrors(result);
    for (const message of errors) io.err(`error: ${message}\n`);
    return errors.length === 0 ? 0 : 1;
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
