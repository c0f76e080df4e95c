import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { savedCritics, staleWarnings } from '../inspect/saved-critics.ts';
import { warningLine } from '../report/warning-line.ts';
import { failure } from '../schema/error.ts';
import type { Exported } from '../schema/exported.ts';
import { exportArrow } from '../store/arrow.ts';
import { engineFailure } from '../store/engine-failure.ts';
import { exportParquet, SHARD } from '../store/parquet.ts';
import { placeOf } from '../store/place.ts';
import { exportScoring } from '../store/scoring.ts';
import type { Store } from '../store/store.ts';
import { TABLES, type TableName } from '../store/tables.ts';
import { folderWrittenWhole, isHalfMoved, isUnfinished } from '../store/whole-file.ts';
import { text, whole } from './arguments.ts';
import { type Command, jsonOption, storeOptions } from './command.ts';
import { openGiven } from './open-store.ts';
import { claimOutput } from './output-file.ts';

const FORMATS = ['parquet', 'arrow', 'scoring'] as const;
type Format = (typeof FORMATS)[number];
const NAMES = Object.keys(TABLES) as TableName[];

export const exportCommand: Command = {
  name: 'export',
  summary: 'Writes tables of a store to Parquet or Arrow files, or contexts and actions for a scorer.',
  options: {
    ...storeOptions,
    to: {
      type: 'string',
      value: 'FORMAT',
      help: 'parquet or arrow; scoring: JSON Lines of contexts and actions, for log-probabilities of another policy',
      required: true,
    },
    table: { type: 'string', value: 'NAME', help: `${NAMES.join(', ')} or all`, default: 'all' },
    out: { type: 'string', value: 'PATH', help: 'the file; of all tables, the folder', required: true },
    shards: {
      type: 'string',
      value: 'N',
      help: 'cut a Parquet table into N folders by a hash of the task',
    },
    force: { type: 'boolean', help: 'replace what is there' },
    json: jsonOption,
  },
  examples: [
    'turnwise export --store runs.duckdb --to parquet --out runs-parquet',
    'turnwise export --store runs.duckdb --to arrow --table turns --out turns.arrow',
    'turnwise export --store runs.duckdb --to parquet --table turns --shards 16 --out turns',
    'turnwise export --store runs.duckdb --to scoring --out scoring.jsonl',
  ],
  undone: true,
  async run(values, _, io) {
    const format = oneOf('--to', text(values, 'to')!, FORMATS);
    const table = oneOf('--table', text(values, 'table')!, [...NAMES, 'all'] as const);
    const out = placeOf(text(values, 'out')!);
    const shards = whole(values, 'shards', 1);
    if (shards !== undefined && (format !== 'parquet' || table === 'all'))
      throw failure({
        subject: '--shards',
        wrong: `does not go with ${format !== 'parquet' ? `--to ${format}` : '--table all'}`,
        expected: '--to parquet and one table',
        exitCode: 2,
      });
    const targets: { readonly name: TableName | 'scoring'; readonly path: string }[] =
      format === 'scoring'
        ? [{ name: 'scoring', path: out }]
        : table === 'all'
          ? NAMES.map((name) => ({ name, path: join(out, `${name}.${format}`) }))
          : [{ name: table, path: out }];
    const force = values.force === true;
    if (format === 'scoring' && table !== 'all')
      throw failure({
        subject: '--table',
        wrong: 'does not go with --to scoring, which is made of several tables',
        exitCode: 2,
      });
    const isFolderOfTables = table === 'all' && format !== 'scoring';
    const store = await openGiven(values, 'read');
    try {
      if (isFolderOfTables && existsSync(out) && !isFolder(out))
        throw failure({ subject: out, wrong: 'is a file', fix: 'Of all tables, --out names a folder.' });
      const isOneFile = !isFolderOfTables && shards === undefined;
      const left = isOneFile ? [] : heldBy(out).filter(isUnfinished);
      for (const { path } of targets) {
        if (!isFolder(path)) claimOutput(path, force, [store.path]);
        checkTarget(path, force, shards !== undefined);
      }
      const critics = targets.some((t) => t.name === 'turn_values') ? await savedCritics(store) : [];
      const files: Exported['files'] = [];
      const writeTo = async (folder: string | null) => {
        for (const { name, path } of targets) {
          io.progress(`writing ${path}`);
          const to = folder === null ? path : join(folder, `${name}.${format}`);
          const about = name === 'turn_values' ? { turnwise_critics: JSON.stringify(critics) } : undefined;
          const options = { replace: folder !== null || force, metadata: about };
          const { rows } = await write(store, name, to, format, shards, options);
          files.push({ table: name, path, rows, bytes: bytesOf(to) });
        }
      };
      // All tables or none: half of a store would read back as one.
      if (isFolderOfTables) await wholeFolder(out, writeTo);
      else await writeTo(null);
      const warnings = staleWarnings(critics);
      const result: Exported = { format, files, critics, warnings };
      if (values.json) io.out(`${JSON.stringify(result)}\n`);
      else for (const f of files) io.out(`${f.path}  ${f.rows} rows, ${f.bytes} bytes\n`);
      for (const w of warnings) io.err(`warning: ${warningLine(w)}\n`);
      for (const name of left)
        io.err(`warning: ${join(out, name)} is left of an export that did not end; it may be deleted\n`);
      return 0;
    } finally {
      store.close();
    }
  },
};

function write(
  store: Store,
  table: TableName | 'scoring',
  path: string,
  format: Format,
  shards: number | undefined,
  options: {
    readonly replace: boolean;
    readonly metadata?: Readonly<Record<string, string>> | undefined;
  },
) {
  if (table === 'scoring') return exportScoring(store, path, options);
  return format === 'arrow'
    ? exportArrow(store, table, path, options)
    : exportParquet(store, table, path, { shards, ...options });
}

/** false too where a folder on the way is a file: writing says so. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const heldBy = (folder: string): string[] => (isFolder(folder) ? readdirSync(folder) : []);

/** Nothing is replaced without --force, and with it only what an export may have written. */
function checkTarget(path: string, force: boolean, sharded: boolean): void {
  if (!existsSync(path)) return;
  const isFolder = statSync(path).isDirectory();
  if (isFolder && !sharded) throw failure({ subject: path, wrong: 'is a directory', fix: 'Name a file.' });
  if (!isFolder && sharded) throw failure({ subject: path, wrong: 'is a file', fix: 'Name a folder.' });
  const held = isFolder ? readdirSync(path).filter((name) => !isUnfinished(name)) : [];
  if (isFolder && held.length === 0) return;
  if (!force) throw failure({ subject: path, wrong: 'is there already', fix: 'Add --force to replace it.' });
  const foreign = held.find((name) => !SHARD.test(name) && !isHalfMoved(name));
  if (foreign !== undefined)
    throw failure({
      subject: path,
      wrong: 'holds something other than shards, and is not replaced',
      got: foreign,
      fix: 'Name another folder.',
    });
}

async function wholeFolder(path: string, write: (part: string) => Promise<void>): Promise<void> {
  try {
    await folderWrittenWhole(path, write);
  } catch (error) {
    throw engineFailure(path, error);
  }
}

function bytesOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

function oneOf<T extends string>(subject: string, got: string, known: readonly T[]): T {
  const found = known.find((k) => k === got);
  if (found === undefined)
    throw failure({
      subject,
      wrong: 'is not known',
      got: `"${got}"`,
      expected: known.join(', '),
      exitCode: 2,
    });
  return found;
}
