/**
 * Unpacks an LZ4 frame (lz4_Frame_format.md 1.6) whose length is known; Arrow's writers put neither block nor content
 * checksums, so those are passed over.
 * @throws errors: damaged, cut, more or less than `length` bytes
 */
export function unlz4(bytes: Uint8Array, length: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Uint8Array(length);
  let used = 0;
  let at = 0;
  while (at < bytes.length) {
    if (view.getUint32(at, true) !== MAGIC) throw new Error('its LZ4 frame is damaged');
    const flags = view.getUint8(at + 4);
    if (flags >> 6 !== 1 || flags & 1) throw new Error('its LZ4 frame is of a kind that is not read');
    at += 7 + (flags & 8 ? 8 : 0);
    for (;;) {
      const size = view.getUint32(at, true);
      at += 4;
      if (size === 0) break;
      const end = at + (size & 0x7fffffff);
      if (end > bytes.length) throw new Error('its LZ4 frame is cut');
      if (size >>> 31) {
        if (used + end - at > length) throw new Error('its LZ4 frame is longer than it says');
        out.set(bytes.subarray(at, end), used);
        used += end - at;
      } else used = block(bytes, at, end, out, used);
      at = end + (flags & 16 ? 4 : 0);
    }
    if (flags & 4) at += 4;
  }
  if (used !== length) throw new Error('its LZ4 frame is shorter than it says');
  return out;
}

const MAGIC = 0x184d2204;

/** One block: literals and copies of what came before. Returns how much of `out` is used after it. */
function block(bytes: Uint8Array, start: number, end: number, out: Uint8Array, used: number): number {
  let from = start;
  let to = used;
  const lengthOf = (nibble: number): number => {
    let n = nibble;
    if (nibble === 15) {
      let more: number;
      do {
        if (from >= end) throw new Error('its LZ4 block is damaged');
        more = bytes[from++]!;
        n += more;
      } while (more === 255);
    }
    return n;
  };
  while (from < end) {
    const token = bytes[from++]!;
    const literals = lengthOf(token >> 4);
    if (from + literals > end || to + literals > out.length) throw new Error('its LZ4 block is damaged');
    out.set(bytes.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from === end) return to;
    if (from + 2 > end) throw new Error('its LZ4 block is damaged');
    const back = bytes[from]! | (bytes[from + 1]! << 8);
    from += 2;
    const matched = lengthOf(token & 15) + 4;
    if (back === 0 || back > to || to + matched > out.length) throw new Error('its LZ4 block is damaged');
    if (back >= matched) out.copyWithin(to, to - back, to - back + matched);
    else for (let k = 0; k < matched; k++) out[to + k] = out[to + k - back]!;
    to += matched;
  }
  return to;
}
