import { expect, test } from 'vitest';
import { plainMessage } from '../../../src/ingest/formats/messages.ts';
import { withTextCalls } from '../../../src/ingest/formats/text-calls.ts';
import { failureFlag, toolFailed } from '../../../src/ingest/formats/tool-outcome.ts';

/** What repeats in texts that make a search start over at every place. */
const PIECES = [
  ...[
    ' ',
    '\t',
    '\n',
    'a: ',
    ': ',
    'a',
    '{',
    '[',
    "{'a': ",
    '"',
    '\\"',
    "'",
    '\\',
    '- ',
    '1.',
    'a.',
    'aError',
    '**',
  ],
  ...[
    'Traceback (most recent call last):\n',
    'error ',
    'Action:',
    'Action: {',
    'Action: x\nAction Input: ',
    '```',
  ],
  ...[
    '<tool_call>',
    '<tool_response>',
    '<tool_response>{"name":',
    '<parameter=',
    '<error>',
    '<returncode>',
    '[exit',
  ],
  ...[
    'exit code ',
    '(',
    'meta=',
    'isError=',
    '{"error":',
    '[{"type":"text","text":"',
    '["a",',
    'Observation:',
  ],
];
const AROUND = [
  ['', ''],
  ['', 'x'],
  ['a: ', '$'],
  ['{"a":', '}'],
  ['Action: ', '}'],
  ["{'k': '", "'}"],
  ['<tool_call>', '</tool_call>'],
] as const;

/** A search that starts over takes minutes for a text of this length; the limit of the test then ends it. */
const LENGTH = 1_000_000;

test.each(PIECES)('a text of a megabyte of %j is judged in one pass', (piece) => {
  for (const [before, behind] of AROUND) {
    const text = before + piece.repeat(LENGTH / piece.length) + behind;
    expect([true, false, null]).toContain(toolFailed(text, null));
    expect([true, null]).toContain(failureFlag({ error: text, status: text }) || null);
    for (const role of ['assistant', 'user'] as const)
      expect(withTextCalls([{ ...plainMessage(role), text }])).toHaveLength(1);
  }
});
