import { fc } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { failureFlag, toolFailed } from '../../../src/ingest/formats/tool-outcome.ts';
import { cpuSeconds } from '../../helpers/cpu-seconds.ts';

const says = (text: string) => toolFailed(text, null);

test.each([
  // Found in public logs and in the benchmarks' own code.
  'Error: a',
  'error',
  '  Error: lead',
  'ERROR - failed',
  'Error executing tool search: no such index',
  'Error code: 429 - rate limited',
  'Error\nline two',
  'Unknown action no_such_tool',
  'foo is not a valid tool, try one of [search, book].',
  'Tool execution error: x',
  'Tool foo not found',
  'Failed to x',
  'Exception: x',
  'ValueError',
  "KeyError('x')",
  'sqlite3.OperationalError: no such table: users',
  'java.lang.NullPointerException: null',
  'Traceback (most recent call last):\n  File',
  'started\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: bad',
  '<error>x</error>',
  '<tool_use_error>File has not been read yet</tool_use_error>',
  'cat: nope: No such file or directory',
  'bash: line 1: foo: command not found',
  'Command failed with exit code 1',
  'Exit code: 2',
  'Exit code 1\nnpm ERR!',
  'Process exited with code 137',
  'exit status 1',
  "/bin/sh: 1: cd: can't cd to /x\nmake: *** [Makefile:192: build] Error 2",
  'gmake[1]: Entering directory\ngmake[1]: *** No rule to make target.  Stop.',
  // AutoGen's executors; SWE-agent's editor, and OpenHands' copy of it.
  'exitcode: 1 (execution failed)\nCode output: unknown language json',
  'exitcode: 124 (execution failed)\nCode output: \nTimeout',
  'The script ran, then exited with Unix exit code: 2\nIts output was:\n',
  'Your proposed edit has introduced new syntax error(s). Please understand the fixes and retry.',
  '[Your proposed edit has introduced new syntax error(s). Please retry.]\n/a.tsx:22',
  'output\n[exit code: 1]',
  '<returncode>1</returncode>\n<output>\nno\n</output>',
  'out\n[The command completed with exit code 2.]\n[Current working directory: /app]',
  'Command timed out after 30 seconds',
  // Printed values.
  '{"error": "no"}',
  '{"error":{"code":1}}',
  '{"a": 1, "error": "x", "b": [{"c": "}"}]}',
  '{"success": false}',
  '{"ok": false, "reason": "x"}',
  '{"status":"error","message":"x"}',
  '{"isError": true}',
  '{"errors":["x"]}',
  '{"errors":[{"message":"x"}],"data":null}',
  '[{"error":"x"}]',
  '{"exit_code": 1, "stdout": ""}',
  '"Error: in quotes"',
  `{'error': 'x'}`,
  `{'error': "it's gone", 'data': None}`,
  `{'success': False, 'at': datetime.datetime(2024, 1, 1)}`,
  `['Error: a', 'Error: b']`,
  `'Error: x'`,
  '{"error": "cut sho',
  '{"type": "text", "text": "Error: x"}',
  `meta=None content=[TextContent(type='text', text='x')] isError=True`,
])('%j failed', (text) => expect(says(text)).toBe(true));

test.each([
  '{"error": null,"ok":1}',
  '{"error": ""}',
  '{"error": false}',
  `{'error': None, 'rows': 3}`,
  '{"error": "None"}',
  '{"success": true}',
  '{"status": "success"}',
  'Exit code: 0',
  'exitcode: 0 (execution succeeded)\nCode output: Error: Cannot open video file',
  'exitcode: 0 (execution succeeded)\nCode output: Traceback (most recent call last):\n  File "a.py"\nKeyError: caught',
  'The script ran, then exited with Unix exit code: 0\nIts output was:\nArchive: x.zip',
  'done\n[Command finished with exit code 0]',
  '<returncode>0</returncode>',
  '{"returncode": 0, "stdout": "Error: printed"}',
  `meta=None content=[] isError=False`,
])('%j worked', (text) => expect(says(text)).toBe(false));

test.each([
  '',
  'fine',
  'Error rate is 0.1 %',
  'Errors: none',
  'error-free',
  '[ERROR] no such user',
  'The error was mine',
  'mean squared error: 0.1',
  'Exceptional: x',
  'Failed tests: 0',
  'Exit code 1 means that a test failed',
  'make: *** [Makefile:3: a] Error 1 was in the log, and is gone',
  'make: [Makefile:3: a] Error 1 (ignored)\nmake: done',
  'exitcode: 1 (of a job that I looked up)',
  'They said: Your proposed edit has introduced new syntax error(s).',
  'Status: 200',
  'code 7',
  '{"text": "an \\"error\\""}',
  '{"order": 7, "status": "failed"}',
  '{"errors": 3, "warnings": 2}',
  '{"errors": [{"line": 3}], "data": {"a": 1}}',
  '{"inner": {"error": "x"}}',
  '[{"error":"x"},{"ok":1}]',
  '[]',
  '{}',
  'Traceback (most recent call last):'.slice(9),
  'see Traceback (most recent call last):\n in the log, and go on',
  `{'a': 'error'}`,
  'Unknown',
  'action unknown',
])('%j says nothing', (text) => expect(says(text)).toBeNull());

test.each([
  [{ is_error: true }, true],
  [{ is_error: false }, false],
  [{ is_error: 'false' }, false],
  [{ isError: true }, true],
  [{ error: 'boom' }, true],
  [{ error: '' }, false],
  [{ error: null }, null],
  [{ error: [] }, false],
  [{ error: 'None' }, false],
  [{ status: 'error' }, true],
  [{ status: 'success' }, false],
  [{ status: 'pending' }, null],
  [{}, null],
])('beside the result: %j says %j', (fields, failed) => expect(failureFlag(fields)).toBe(failed));

test('the word of the log outranks the text', () => {
  expect(toolFailed('Error: quoted', false)).toBe(false);
  expect(toolFailed('fine', true)).toBe(true);
});

test('an object says the same in JSON and as Python prints it', () => {
  const python = (value: unknown): string => {
    if (value === null) return 'None';
    if (value === true) return 'True';
    if (value === false) return 'False';
    if (typeof value === 'string')
      return `'${value.replace(/[\\']/g, (c) => `\\${c}`).replaceAll('\n', '\\n')}'`;
    if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
    if (typeof value === 'object')
      return `{${Object.entries(value as object)
        .map(([k, v]) => `${python(k)}: ${python(v)}`)
        .join(', ')}}`;
    return String(value);
  };
  const names = fc.constantFrom(
    'error',
    'success',
    'ok',
    'status',
    'errors',
    'data',
    'text',
    'exit_code',
    'a',
  );
  const values = fc.oneof(
    fc.constantFrom(null, true, false, 0, 1, '', 'error', 'None', [], ['x'], {}, { error: 'deep' }),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.dictionary(names, values), (object) => {
      expect(says(python(object))).toBe(says(JSON.stringify(object)));
    }),
    { seed: 20, numRuns: 1000 },
  );
});

test('any text is judged, in time that grows with its length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect([true, false, null]).toContain(says(text));
    }),
    { seed: 20, numRuns: 2000 },
  );
  const n = 300_000;
  const long = [
    '[',
    '{',
    '"',
    `{"a":`,
    '(',
    ' ',
    "{'",
    'command ',
    '\n',
    '\\',
    'Error ',
    'a.',
    '[exit code',
    'x: ',
  ];
  const start = cpuSeconds();
  for (const piece of long)
    for (const text of [
      piece.repeat(n / piece.length),
      `{"error": ${piece.repeat(n / piece.length)}`,
      `exit ${piece.repeat(n / piece.length)}`,
    ])
      expect([true, false, null]).toContain(says(text));
  expect(cpuSeconds() - start).toBeLessThan(10);
});
