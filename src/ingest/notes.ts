/**
 * What a reader noticed in a record that it kept: a field left out, a column it does not know. Notes with
 * the same code and subject are summed over all files and become one warning.
 */
export interface FormatNote {
  readonly code: NoteCode;
  /** What it is about: the name of a field or a column, a shape. */
  readonly about: string;
  /** How many times; absent: once. */
  readonly count?: number | undefined;
}

/** The message of a note, to be read after its count; `many`: the plural is right. */
type Message = (about: string, many: boolean) => string;

const episodes = (many: boolean): string => (many ? 'episodes' : 'episode');

/** Every note, by its code, which is also the code of the warning. */
export const NOTES = {
  'field-left-out': (about, many) =>
    `${many ? 'values' : 'value'} of ${about} cannot be used: left out, the rest of the record kept`,
  'column-kept-in-meta': (about, many) =>
    `${episodes(many)} with ${about}, which this format does not know: kept in meta`,
  'score-column-left-out': (about, many) =>
    `${many ? 'scores' : 'score'} with ${about}, a column that scores do not have: left out`,
  'row-index-left-out': (about, many) =>
    `${many ? 'rows' : 'row'} with ${about}, which only numbers the rows: left out`,
  'column-looks-like': (about, many) => `${episodes(many)} with ${about}`,
  'gold-fenced': (about, many) =>
    `${episodes(many)} with ${about}, a right answer by its name: fenced off, never read as state`,
  'role-as-input': (about, many) =>
    `${many ? 'messages' : 'message'} of role "${about}", which this format does not know: read as what came in`,
  'message-field-kept': (about, many) =>
    `${many ? 'messages' : 'message'} with ${about}, which this format does not know: kept in meta as message_fields`,
  'calls-unread': (about, many) =>
    `${many ? 'turns' : 'turn'} with calls written as ${about}, which could not be read: calls and tool errors are null`,
  'results-orphaned': (_, many) =>
    `tool ${many ? 'results that answer' : 'result that answers'} no call of the log: observed only`,
  'logprobs-partial': (about, many) =>
    `${many ? 'turns' : 'turn'} whose token log-probabilities ${about}: the turn has no sum of them`,
  'verdict-unreadable': (about, many) =>
    `${many ? 'trials' : 'trial'} whose result cannot be read, and which ${many ? 'have' : 'has'} no reward from it: ${about}`,
  'ids-renamed': (about, many) =>
    `${episodes(many)} of this file that ${many ? 'were' : 'was'} stored before ${many ? 'take' : 'takes'} the prefix "${about}" too`,
  'time-without-zone': (about, many) => `${many ? 'times' : 'time'} of ${about} without a zone: read as UTC`,
} as const satisfies Readonly<Record<string, Message>>;
export type NoteCode = keyof typeof NOTES;

/** Notes summed by code and subject. */
export interface NoteCounts {
  add(notes: readonly FormatNote[] | undefined): void;
  /** Each with its count, in the order they first came. */
  list(): FormatNote[];
}

/** Subjects kept apart under one code: a hostile log may name a million columns. */
const SUBJECTS = 20;
const FURTHER = 'further names';
/** Longest subject, in characters. */
const LENGTH = 120;

/** A name comes from the log: it may be long, and hold what a terminal would obey. */
function plain(about: string): string {
  const short = about.length <= LENGTH ? about : `${about.slice(0, LENGTH)}…`;
  return short.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** Memory: at most 21 entries a code. */
export function noteCounts(): NoteCounts {
  const byCode = new Map<NoteCode, Map<string, number>>();
  return {
    add(notes) {
      for (const { code, about, count = 1 } of notes ?? []) {
        let counts = byCode.get(code);
        if (counts === undefined) byCode.set(code, (counts = new Map()));
        const subject = plain(about);
        const name = counts.has(subject) || counts.size < SUBJECTS ? subject : FURTHER;
        counts.set(name, (counts.get(name) ?? 0) + count);
      }
    },
    list: () =>
      [...byCode].flatMap(([code, counts]) => [...counts].map(([about, count]) => ({ code, about, count }))),
  };
}

/** The message of a note, without its count. */
export function noteMessage({ code, about, count = 1 }: FormatNote): string {
  return NOTES[code](about, count !== 1);
}
