/** Names seen so far, eight bytes each. */
export interface IdSet {
  /** Adds a name; whether it may have been there. A wrong "yes" has a chance of about n / 2^63. */
  add(id: string): boolean;
}

/**
 * A set of 64-bit hashes in two typed arrays, open addressing: a name is confirmed against the store
 * only where its hash is known, so that checking n new names costs O(n) and 16 bytes each at most.
 */
export function idSet(): IdSet {
  let capacity = 1 << 12;
  let low = new Int32Array(capacity);
  let high = new Int32Array(capacity);
  let size = 0;

  function put(a: number, b: number): boolean {
    let at = a & (capacity - 1);
    while (low[at] !== 0 || high[at] !== 0) {
      if (low[at] === a && high[at] === b) return true;
      at = (at + 1) & (capacity - 1);
    }
    low[at] = a;
    high[at] = b;
    return false;
  }
  function grow(): void {
    const [oldLow, oldHigh] = [low, high];
    capacity *= 2;
    low = new Int32Array(capacity);
    high = new Int32Array(capacity);
    for (let k = 0; k < oldLow.length; k++)
      if (oldLow[k] !== 0 || oldHigh[k] !== 0) put(oldLow[k]!, oldHigh[k]!);
  }

  return {
    add(id) {
      const a = hash(id, 0x9e3779b9);
      const b = hash(id, 0x85ebca6b) | 1; // Never the empty slot.
      if (put(a, b)) return true;
      if (++size * 2 > capacity) grow();
      return false;
    },
  };
}

/** Murmur3 over UTF-16 code units, 32 bits. */
function hash(text: string, seed: number): number {
  let h = seed | 0;
  for (let i = 0; i < text.length; i++) {
    let k = Math.imul(text.charCodeAt(i), 0xcc9e2d51);
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    h ^= k;
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  }
  h ^= text.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
