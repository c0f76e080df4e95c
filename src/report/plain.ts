/**
 * Text that is harmless on a terminal: control characters (C0 but tab and newline, DEL, C1) and
 * bidirectional overrides become visible escapes, so that logged text can neither move the cursor,
 * set a title, nor show something else than what is there.
 */
export function plain(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Logged text within a line of our own: a newline in it is shown, so that it cannot pass for another line. */
export const inline = (text: string): string => plain(text).replaceAll('\n', '\\n');

/** The first line of a logged text, cut to `width` characters. */
export function firstLine(text: string, width: number): string {
  const line = plain(text.split('\n', 1)[0]!);
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
