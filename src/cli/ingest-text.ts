import { inline } from '../report/plain.ts';
import type { IngestedFile, IngestResult } from '../schema/ingest-result.ts';

/** What became of each file, for a person; `kept`: there is a store now. */
export function ingestText(result: IngestResult, kept: boolean): string {
  const lines: string[] = [];
  for (const file of result.files) {
    lines.push(`${inline(file.path)}: ${fileLine(file)}`);
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
  const joined = files.reduce((n, f) => n + f.rewardsJoined, 0);
  if (!kept) lines.push(`Nothing added, so no store was made: ${result.store} is not there`);
  else
    lines.push(
      `${result.store}: ${counted(files.length, 'file')}, ${counted(episodes, 'episode')} with ${counted(turns, 'turn')}${scores > 0 ? `, ${counted(scores, 'score')}` : ''} added${joined > 0 ? `, ${counted(joined, 'reward')} joined` : ''}, ${counted(rejects, 'reject')}`,
    );
  if (files.some((f) => f.status === 'added' && f.rejects > 0))
    lines.push(`Rejects by reason: turnwise describe --store ${result.store}`);
  return `${lines.join('\n')}\n`;
}

/** Why the command fails, a message a file. */
export function ingestErrors({ files }: IngestResult): string[] {
  const messages = files.flatMap((f) => f.error ?? []);
  for (const file of files.filter((f) => f.status === 'empty'))
    messages.push(`${file.path}: holds no record`);
  const refused = files.filter((f) => f.status === 'refused').map((f) => f.path);
  if (refused.length > 0) messages.push(`--strict: nothing kept of ${refused.join(', ')}`);
  for (const file of files.filter((f) => f.conflicts > 0 && f.status !== 'refused'))
    messages.push(
      `${file.path}: ${counted(file.conflicts, 'record')} ${file.conflicts === 1 ? 'has' : 'have'} the episode_id of another episode in the store, and ${file.conflicts === 1 ? 'was' : 'were'} rejected (id-conflict). Where ids start over in every file, give each run its own: --id-prefix PREFIX.`,
    );
  for (const file of files.filter(mostlyRejected)) {
    const read = file.episodes + file.scores + file.duplicates;
    const wrong = read === 0 ? 'gave nothing but rejects' : 'most of its records were rejected';
    messages.push(`${file.path}: ${wrong}, got ${file.rejects} of ${read + file.rejects}`);
  }
  return messages;
}

/** Nothing came in, or more than half was bad; what was there before is no bad record of a log that grew. */
function mostlyRejected(file: IngestedFile): boolean {
  const { status, episodes, scores, rejects, duplicates, conflicts } = file;
  // Conflicts have a message of their own.
  if (status !== 'added' || rejects === conflicts) return false;
  const read = episodes + scores + duplicates;
  return read === 0 || rejects - conflicts > read;
}

function fileLine(file: IngestedFile): string {
  const { format, status, episodes, turns, scores, rejects, duplicates, rewardsJoined } = file;
  if (status === 'known') return knownLine(file);
  if (status === 'part') return `${format}, part of another file's episode: nothing added`;
  if (status === 'empty') return 'empty: nothing added';
  if (status === 'failed') return 'failed: nothing added';
  if (status === 'refused') return `${format}, refused: ${counted(rejects, 'reject')}, nothing kept`;
  const what =
    format === 'scores'
      ? counted(scores, 'score')
      : `${counted(episodes, 'episode')}, ${counted(turns, 'turn')}`;
  const there = duplicates > 0 ? `, ${counted(duplicates, 'episode')} already stored` : '';
  const joined = rewardsJoined > 0 ? `, ${counted(rewardsJoined, 'reward')} joined` : '';
  return `${format}, ${what}${there}${joined}, ${counted(rejects, 'reject')}${conflicting(file)}`;
}

function knownLine(file: IngestedFile): string {
  const { format, path, knownAs, rewardsJoined } = file;
  const as = knownAs === path ? '' : ` as ${knownAs}`;
  const what = rewardsJoined > 0 ? `${counted(rewardsJoined, 'reward')} joined` : 'nothing added';
  return `${format}, already there${as}: ${what}${conflicting(file)}`;
}

function conflicting({ status, rejects, conflicts }: IngestedFile): string {
  if (conflicts === 0) return '';
  const what = 'for an episode_id that another episode has';
  if (status === 'known') return `; ${counted(conflicts, 'record')} of it rejected ${what}`;
  return ` (${conflicts === rejects ? '' : `${conflicts.toLocaleString('en')} of them `}${what})`;
}

function counted(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
}
