/** The first `n` bytes of a stream (fewer where it is shorter), and the stream with them still in it. */
export async function peek(
  chunks: AsyncIterable<Uint8Array>,
  n: number,
): Promise<{ head: Uint8Array; chunks: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let length = 0;
  while (length < n) {
    const next = await iterator.next();
    if (next.done) break;
    seen.push(next.value);
    length += next.value.length;
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    try {
      while (seen.length > 0) yield seen.shift()!;
      for (;;) {
        const next = await iterator.next();
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head: Buffer.concat(seen).subarray(0, n), chunks: rest() };
}
