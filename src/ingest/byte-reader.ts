/** Takes bytes off a stream in pieces of a wanted length; holds one chunk and the piece. */
export interface ByteReader {
  /** Exactly `n` bytes. @throws an error "it ends too early" */
  take(n: number): Promise<Uint8Array>;
  /** The same in memory of its own, where typed arrays can lie on it, taken at once: `n` must be known to be there. */
  takeOwn(n: number): Promise<Uint8Array>;
  /** `n` bytes, or as many as are left. */
  atMost(n: number): Promise<Uint8Array>;
  /** All that is left. */
  rest(): Promise<Uint8Array>;
  /** Passes over `n` bytes, without holding them. @throws as `take` */
  skip(n: number): Promise<void>;
  /** Bytes taken and passed over so far. */
  readonly position: number;
  /** Lets go of the stream, read to its end or not. */
  close(): Promise<void>;
}

export function byteReader(chunks: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = chunks[Symbol.asyncIterator]();
  let chunk: Uint8Array = new Uint8Array(0);
  let at = 0;
  let position = 0;
  /** The next piece of at most `n` bytes that lies in one chunk; empty at the end. */
  async function piece(n: number): Promise<Uint8Array> {
    while (at === chunk.length) {
      const next = await iterator.next();
      if (next.done) return new Uint8Array(0);
      chunk = next.value;
      at = 0;
    }
    const found = chunk.subarray(at, at + n);
    at += found.length;
    position += found.length;
    return found;
  }
  async function atMost(n: number): Promise<Uint8Array> {
    const first = await piece(n);
    if (first.length === n || first.length === 0) return first;
    const pieces = [first];
    let length = first.length;
    while (length < n) {
      const more = await piece(n - length);
      if (more.length === 0) break;
      pieces.push(more);
      length += more.length;
    }
    return Buffer.concat(pieces);
  }
  return {
    atMost,
    async take(n) {
      if (n === 0) return new Uint8Array(0);
      const found = await atMost(n);
      if (found.length < n) throw new Error('it ends too early');
      return found;
    },
    async takeOwn(n) {
      const own = new Uint8Array(n);
      for (let used = 0; used < n; ) {
        const found = await piece(n - used);
        if (found.length === 0) throw new Error('it ends too early');
        own.set(found, used);
        used += found.length;
      }
      return own;
    },
    async rest() {
      const pieces: Uint8Array[] = [];
      for (;;) {
        const found = await piece(Number.POSITIVE_INFINITY);
        if (found.length === 0) return Buffer.concat(pieces);
        pieces.push(found);
      }
    },
    async skip(n) {
      for (let left = n; left > 0; ) {
        const { length } = await piece(left);
        if (length === 0) throw new Error('it ends too early');
        left -= length;
      }
    },
    get position() {
      return position;
    },
    async close() {
      await iterator.return?.();
    },
  };
}
