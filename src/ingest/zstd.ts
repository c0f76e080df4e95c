import { Decompress } from 'fzstd';

/** Zstandard, chunk by chunk, several frames among them; a file that ends too early is an error. Checksums are not checked. */
export async function* unzstd(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let out: Uint8Array[] = [];
  const decoder = new Decompress((data) => {
    if (data.length > 0) out.push(data);
  });
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE) {
      decoder.push(chunk.subarray(at, at + PIECE));
      yield* out;
      out = [];
    }
  }
  decoder.push(new Uint8Array(0), true);
  yield* out;
}

/** Compressed bytes handed over at once: a bound on what one push can unfold. */
const PIECE = 1 << 16;
