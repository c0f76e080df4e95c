/**
 * JSON text of a value for a JSON column. JSON.stringify escapes a lone surrogate, which the engine's
 * JSON functions refuse for ever after; it is left as the surrogate itself, which the store replaces
 * by U+FFFD and counts, as in any other text.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return text.replace(/\\(\\|u(d[89a-f][0-9a-f]{2}))/g, (whole, _, code: string | undefined) =>
    code === undefined ? whole : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Path of the first number that is not finite (JSON.parse reads 1e999 as Infinity), or undefined. */
export function nonFinite(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = nonFinite(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
