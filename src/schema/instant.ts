import { z } from 'zod';

const FORM =
  /^\s*(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?\s*(Z|z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?\s*$/;
/** No time is longer, and a pattern's time grows faster than a text of blanks. */
const LONGEST = 64;
const Instant = z.iso.datetime({ offset: true });

/**
 * The one rule for times, in every format: an ISO 8601 date and time, with `T` or a space between them;
 * without a zone it is UTC. As text with its offset from UTC; null: it is no such time.
 */
export function instantOf(text: string): string | null {
  const found = text.length > LONGEST ? null : FORM.exec(text);
  if (found === null) return null;
  const [, date, minutes, seconds = ':00', zone] = found;
  const offset = zone === undefined || /^[a-z]+$/i.test(zone) ? 'Z' : withColon(zone);
  const instant = `${date}T${minutes}${seconds.replace(',', '.')}${offset}`;
  return Instant.safeParse(instant).success ? instant : null;
}

/** Whether a time says where it was measured. */
export function hasZone(text: string): boolean {
  return text.length <= LONGEST && FORM.exec(text)?.[4] !== undefined;
}

function withColon(zone: string): string {
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}
