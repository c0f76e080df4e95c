import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { type JsonElement, splitElements } from '../../src/ingest/json-elements.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes cut at the given places. */
async function* chunked(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts.map((c) => c % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
}
async function split(text: string | Uint8Array, cuts: readonly number[] = [], max = Number.MAX_SAFE_INTEGER) {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  const out: JsonElement[] = [];
  for await (const element of splitElements(chunked(bytes, cuts), max)) out.push(element);
  return out;
}
const everyByte = (text: string): number[] => [...encoder.encode(text).keys()];
const texts = (elements: readonly JsonElement[]) => elements.map((e) => e.bytes && decoder.decode(e.bytes));

const values = fc.array(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), {
  maxLength: 8,
});
const cuts = fc.array(fc.nat(4000), { maxLength: 40 });

describe('splitElements', () => {
  test.prop([values, cuts, fc.constantFrom(undefined, 1, 2, '\t', ' \r'), fc.boolean()])(
    'any array, any chunking, printed any way, comes back identical, each at its offset and line',
    async (array, places, indent, bom) => {
      // An indent that holds no white space JSON knows would not be JSON; these are all white space.
      const text = (bom ? '\ufeff' : '') + JSON.stringify(array, null, indent);
      const elements = await split(text, places);
      expect(elements.map((e) => JSON.parse(decoder.decode(e.bytes!)))).toEqual(
        JSON.parse(JSON.stringify(array)),
      );
      const bytes = encoder.encode(text);
      for (const e of elements) {
        expect(bytes.subarray(e.offset, e.offset + e.bytes!.length)).toEqual(e.bytes);
        expect(e.line).toBe(bytes.subarray(0, e.offset).filter((b) => b === 10).length + 1);
      }
    },
  );

  test.prop([values, cuts, fc.nat(60)])(
    'an element larger than the limit comes as null, the others untouched',
    async (array, places, max) => {
      const printed = array.map((value) => JSON.stringify(value));
      const elements = await split(JSON.stringify(array), places, max);
      expect(texts(elements)).toEqual(printed.map((p) => (encoder.encode(p).length > max ? null : p)));
    },
  );

  test.prop([fc.array(fc.jsonValue(), { minLength: 1, maxLength: 5 }), fc.nat(), cuts])(
    'a file cut short anywhere gives whole elements, then the error',
    async (array, place, places) => {
      const whole = encoder.encode(JSON.stringify(array));
      const text = whole.subarray(0, place % whole.length);
      const seen: unknown[] = [];
      await expect(
        (async () => {
          for await (const e of splitElements(chunked(text, places), 1e9))
            seen.push(JSON.parse(decoder.decode(e.bytes!)));
        })(),
      ).rejects.toThrow(/the file (ends|is empty).* at line 1, byte \d+/);
      expect(seen).toEqual(JSON.parse(JSON.stringify(array)).slice(0, seen.length));
    },
  );

  test('brackets and quotes inside strings do not count, byte by byte', async () => {
    const text = '[{"a":"]}\\"[{"},"\\\\", "\\\\\\"]" ,[[]],-1.5e3,null]';
    const expected = ['{"a":"]}\\"[{"}', '"\\\\"', '"\\\\\\"]"', '[[]]', '-1.5e3', 'null'];
    expect(texts(await split(text))).toEqual(expected);
    expect(texts(await split(text, everyByte(text)))).toEqual(expected);
  });

  test('an element of exactly the limit comes whole, also in pieces', async () => {
    expect(texts(await split('["abc","abcd"]', everyByte('["abc","abcd"]'), 5))).toEqual(['"abc"', null]);
  });

  test('a broken element is handed on, and the next ones still come', async () => {
    expect(texts(await split('[{"a":1], {"b":2}, nope]'))).toEqual(['{"a":1]', '{"b":2}', 'nope']);
  });

  test('an empty array has no elements', async () => {
    expect(await split(' [ \n ] \n')).toEqual([]);
  });

  test.each([
    ['{"a":1}', "'{' found, expected '[' to start the array, at line 1, byte 0"],
    ['[1\n 2]', "'2' found, expected ',' or ']' after an element, at line 2, byte 4"],
    ['[1,\n,2]', "',' found, expected an element, at line 2, byte 4"],
    ['[1,]', "']' found, expected an element, at line 1, byte 3"],
    ['[,1]', "',' found, expected an element, at line 1, byte 1"],
    ['[{}}]', "'}' found, expected ',' or ']' after an element, at line 1, byte 3"],
    ['[1]\n[2]', "'[' found, expected nothing after the end of the array, at line 2, byte 4"],
    ['[1]\0', 'byte 0x0 found, expected nothing after the end of the array, at line 1, byte 3'],
    ['', "no '[': the file is empty at line 1, byte 0"],
    ['[1,\n{"a":[', 'the file ends inside the element that starts at line 2, byte 4'],
    ['[1', 'the file ends inside the element that starts at line 1, byte 1'],
    ['[1,', "the file ends before the array's ']' at line 1, byte 3"],
  ])('%j is refused with its place', async (text, message) => {
    await expect(split(text)).rejects.toThrow(message);
    await expect(split(text, everyByte(text))).rejects.toThrow(message);
  });
});
