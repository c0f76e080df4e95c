/** What begins a file that is no log, and what to do with it: `at` is where the bytes stand. */
const FOREIGN: readonly { readonly at: number; readonly bytes: string; readonly is: string }[] = [
  { at: 0, bytes: 'PK\x03\x04', is: 'a zip archive' },
  { at: 0, bytes: 'PK\x05\x06', is: 'an empty zip archive' },
  { at: 257, bytes: 'ustar', is: 'a tar archive' },
  { at: 0, bytes: '\xfd7zXZ\x00', is: 'compressed by xz' },
  { at: 0, bytes: '7z\xbc\xaf\x27\x1c', is: 'a 7z archive' },
  { at: 0, bytes: 'BZh', is: 'compressed by bzip2' },
  { at: 0, bytes: '\x04\x22\x4d\x18', is: 'compressed by lz4' },
  { at: 0, bytes: '\xff\x06\x00\x00sNaPpY', is: 'compressed by Snappy' },
  { at: 0, bytes: '\x1f\x8b', is: 'compressed twice, inside by gzip' },
  { at: 0, bytes: '\x28\xb5\x2f\xfd', is: 'compressed twice, inside by Zstandard' },
];

const UTF_16 = ['\xff\xfe', '\xfe\xff'];
/** How far into a file its kind is told. */
const FOREIGN_BYTES = 262;

/**
 * Whether the first bytes of a file, unpacked, say that it is something that holds logs and is none: stored in an
 * archive, the lines of a log can be read for the most part, and the first of each file is lost.
 * @returns what it is, and the way out; undefined: none of these
 */
export function foreignFile(head: Uint8Array): { readonly wrong: string; readonly fix: string } | undefined {
  const text = Buffer.from(head.subarray(0, FOREIGN_BYTES)).toString('latin1');
  const found = FOREIGN.find(({ at, bytes }) => text.startsWith(bytes, at));
  if (found) return { wrong: `is ${found.is}, and no log`, fix: 'Unpack it, and name what it holds.' };
  // A marker of four bytes ff begins an Arrow stream, and does not look like this.
  if (UTF_16.some((mark) => text.startsWith(mark)) || /^[{[]\0|^\0[{[]/.test(text))
    return { wrong: 'is text in UTF-16 or UTF-32', fix: 'Write it in UTF-8: "iconv -f UTF-16 -t UTF-8".' };
  return undefined;
}
