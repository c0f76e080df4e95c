import { plain } from './plain.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Logged text made safe for HTML text and attribute values; control characters become visible escapes. */
export function escapeHtml(text: string): string {
  return plain(text).replace(/[&<>"']/g, (c) => ENTITIES[c]!);
}

const CHARACTERS = Object.fromEntries(Object.entries(ENTITIES).map(([c, entity]) => [entity, c]));

/** The text that a reader sees of HTML that this folder made. */
export const visibleText = (html: string): string =>
  html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity]!);
