import type { FormatNote } from '../notes.ts';
import { type Fields, field, isFields } from './fields.ts';

/** Fields of one message that its format does not know. */
export interface MessageFields {
  /** The turn that an assistant's message is; of any other, the turn that comes next. */
  readonly turn: number;
  readonly role: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What stands on the messages beside what is read, message by message; null says nothing and is left out. */
export function messageFields(
  list: readonly unknown[],
  known: ReadonlySet<string>,
  notes: FormatNote[],
): MessageFields[] {
  const found: MessageFields[] = [];
  let turn = 0;
  for (const outer of list) {
    if (!isFields(outer)) continue;
    const inner = field(outer, 'message');
    const choice = field(outer, 'role') === undefined && isFields(inner);
    const role = field(choice ? inner : outer, 'role');
    const entries = [...unknownFields(outer, known), ...(choice ? unknownFields(inner, known) : [])];
    for (const [name] of entries) notes.push({ code: 'message-field-kept', about: name });
    if (entries.length > 0) found.push({ turn, role, fields: Object.fromEntries(entries) });
    if (role === 'assistant' || role === 'model' || role === 'ai') turn++;
  }
  return found;
}

function unknownFields(fields: Fields, known: ReadonlySet<string>): [string, unknown][] {
  return Object.entries(fields).filter(([name, value]) => !known.has(name) && value !== null);
}
