export type Random = () => number;

/** A fixed sequence in [0, 1). */
export function random(seed: number): Random {
  let x = seed;
  return () => (x = (x * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const chosen = <T>(draw: Random, of: readonly T[]): T => of[Math.floor(draw() * of.length)]!;

/** What stands where something else was expected. */
const ODD: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => -0,
  () => 1e308,
  () => -1,
  () => 0.5,
  () => 2 ** 53,
  () => '',
  () => 'x',
  () => '\u0000\ud800"\\',
  () => '9'.repeat(400),
  () => 'é'.repeat(5000),
  () => [],
  () => ({}),
  () => [[[]]],
  () => ({ __proto__x: 1, constructor: 2, toString: 3 }),
  () => deep(40),
  () => deep(700),
  () => Array.from({ length: 300 }, (_, i) => i),
  () => '2024-13-45T99:00:00Z',
  () => '0001-01-01T00:00:00Z',
];

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A record changed in its structure, in its bytes, or both; one line. */
export function mutated(record: unknown, draw: Random, bytesToo: boolean): Buffer {
  const changes = 1 + Math.floor(3 * draw());
  const inBytes = bytesToo && draw() < 0.5;
  let changed = record;
  if (!inBytes || draw() < 0.3) for (let k = 0; k < changes; k++) changed = changedOnce(changed, draw);
  const bytes = Buffer.from(JSON.stringify(changed) ?? 'null');
  return inBytes ? changedBytes(bytes, changes, draw) : bytes;
}

interface Place {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string | number;
}

function placesIn(value: unknown, into: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null || into.length > 500) return into;
  for (const key of Object.keys(value)) {
    into.push({ holder: value as Place['holder'], key });
    placesIn((value as Record<string, unknown>)[key], into);
  }
  return into;
}

function changedOnce(record: unknown, draw: Random): unknown {
  const places = placesIn(record);
  if (places.length === 0) return chosen(draw, ODD)();
  const { holder, key } = chosen(draw, places);
  const at = holder as Record<string, unknown>;
  const other = chosen(draw, places);
  switch (Math.floor(draw() * 6)) {
    case 0:
      at[key] = chosen(draw, ODD)();
      break;
    case 1:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete at[key];
      break;
    case 2:
      at[`${key}${chosen(draw, ['', ' ', '_', 's', '__proto__'])}`] = at[key];
      break;
    case 3:
      // A copy: no record holds itself.
      at[key] = structuredClone((other.holder as Record<string, unknown>)[other.key]);
      break;
    case 4:
      if (Array.isArray(holder)) holder.push(structuredClone(at[key]));
      else at[chosen(draw, ['meta', 'turns', 'messages', 'id', 'reward', 'x'])] = at[key];
      break;
    default:
      at[key] = typeof at[key] === 'number' ? String(at[key]) : typeof at[key] === 'string' ? 7 : [at[key]];
  }
  return record;
}

/** No line is ended, and none is left blank. */
function changedBytes(bytes: Buffer, changes: number, draw: Random): Buffer {
  let changed = Buffer.from(bytes);
  for (let k = 0; k < changes; k++) {
    const at = Math.floor(draw() * changed.length);
    const kind = draw();
    if (kind < 0.5)
      changed[at] = chosen(draw, [0x22, 0x7b, 0x5d, 0x2c, 0x3a, 0x5c, 0x00, 0xff, 0x2d, 0x39, 0x65, 0xc3]);
    else if (kind < 0.7)
      changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at + 1 + Math.floor(draw() * 8))]);
    else if (kind < 0.9)
      changed = Buffer.concat([changed.subarray(0, at), changed.subarray(Math.floor(draw() * at))]);
    else changed = changed.subarray(0, at);
  }
  return changed.every((b) => b === 0x20 || b === 0x09 || b === 0x0d) ? Buffer.from('x') : changed;
}
