import { expect, test } from 'vitest';
import { noteCounts, noteMessage } from '../../src/ingest/notes.ts';

test('notes are summed by code and subject; the message agrees with the count', () => {
  const counts = noteCounts();
  counts.add([{ code: 'field-left-out', about: 'started_at' }]);
  counts.add(undefined);
  counts.add([
    { code: 'column-kept-in-meta', about: 'score', count: 3 },
    { code: 'field-left-out', about: 'started_at', count: 2 },
  ]);
  const list = counts.list();
  expect(list).toEqual([
    { code: 'field-left-out', about: 'started_at', count: 3 },
    { code: 'column-kept-in-meta', about: 'score', count: 3 },
  ]);
  expect(noteMessage(list[0]!)).toMatch(/^values of started_at /);
  expect(noteMessage({ code: 'field-left-out', about: 'x' })).toMatch(/^value of x /);
});

test('names of the log are cut, and hold nothing that a terminal would obey', () => {
  const counts = noteCounts();
  counts.add([{ code: 'column-kept-in-meta', about: `\u001b[31m\u202e${'x'.repeat(1e6)}` }]);
  const [note] = counts.list();
  expect(note!.about).toBe(`\ufffd[31m\ufffd${'x'.repeat(114)}…`);
});

test('a log that names a million columns makes a few warnings, and the counts add up', () => {
  const counts = noteCounts();
  for (let k = 0; k < 1000; k++) counts.add([{ code: 'column-kept-in-meta', about: `c${k}` }]);
  for (let k = 0; k < 5; k++) counts.add([{ code: 'column-kept-in-meta', about: 'c3' }]);
  const list = counts.list();
  expect(list.length).toBe(21);
  expect(list.find((n) => n.about === 'c3')!.count).toBe(6);
  expect(list.reduce((n, x) => n + x.count!, 0)).toBe(1005);
});
