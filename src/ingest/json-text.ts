import { stringifyExact } from '../json/exact-json.ts';

/**
 * JSON text of a value for a JSON column. JSON.stringify escapes a lone surrogate, which the engine's
 * JSON functions refuse for ever after; it is left as the surrogate itself, which the store replaces
 * by U+FFFD and counts, as in any other text.
 */
export function jsonText(value: unknown): string {
  const text = stringifyExact(value);
  if (!text.includes('\\ud')) return text;
  return text.replace(/\\(\\|u(d[89a-f][0-9a-f]{2}))/g, (whole, _, code: string | undefined) =>
    code === undefined ? whole : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
