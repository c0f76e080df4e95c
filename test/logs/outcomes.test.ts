/*
 * The rule that says whether a call failed, on the answers of real tools whose logs tell the truth beside the
 * text: exit codes that OpenHands kept in a field of their own, and those that AutoGen's executors print. The
 * rule sees the text alone. What it misses is counted, so that it can only be widened knowingly.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toolFailed } from '../../src/ingest/formats/tool-outcome.ts';
import { LOGS, missing, skipped } from './logs.ts';

// biome-ignore lint/suspicious/noExplicitAny: the raw JSON of strangers, walked as it is.
type Json = any;

const read = (name: string): string => readFileSync(join(LOGS, name), 'utf8');

describe.skipIf(missing)(`whether a call failed${skipped}`, () => {
  test('OpenHands: commands with their exit codes', () => {
    const observations: Json[] = read('openhands/multi_swe_bench_output.jsonl')
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => JSON.parse(line).history.flat());
    const commands = observations.filter((o) => o.observation === 'run');
    const failed = (o: Json): boolean => o.extras.metadata.exit_code !== 0;
    expect([commands.length, commands.filter(failed).length]).toEqual([49, 19]);
    const told = commands.filter((o) => toolFailed(o.content, null) === true);
    expect(told.filter((o) => !failed(o))).toEqual([]);
    // Two print nothing, three end in CMake's last words, two in apt's: their text alone is no proof.
    const missed = commands.filter((o) => failed(o) && toolFailed(o.content, null) !== true);
    expect(missed.map((o) => o.content.trim().split('\n').at(-1)).sort()).toEqual([
      '',
      '',
      'E: Unable to locate package libgtest-dev',
      'E: Unable to locate package llvm-dev',
      ...Array(3).fill(
        'See also "/workspace/ponylang__ponyc__0.1/build/build_release/CMakeFiles/CMakeOutput.log".',
      ),
    ]);
    expect(commands.filter((o) => failed(o) && toolFailed(o.content, null) === false)).toEqual([]);
  });

  test('AutoGen: scripts with the exit code in their first line', () => {
    const answers = ['algorithm-generated', 'hand-crafted'].flatMap((folder) =>
      readdirSync(join(LOGS, 'who-and-when', folder)).flatMap((name) =>
        JSON.parse(read(`who-and-when/${folder}/${name}`)).history.map((m: Json) => m.content as string),
      ),
    );
    const codes = answers.flatMap((text) => {
      const code = /^exitcode: (\d+) |^The script ran, then exited with Unix exit code: (\d+)/.exec(text);
      return code === null ? [] : [{ text, failed: Number(code[1] ?? code[2]) !== 0 }];
    });
    expect(codes.length).toBeGreaterThan(100);
    expect(codes.filter((c) => toolFailed(c.text, null) !== c.failed)).toEqual([]);
  });

  test('OpenHands and SWE-agent: edits that were made and edits that were not', () => {
    const observations: Json[] = read('openhands/multi_swe_bench_output.jsonl')
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => JSON.parse(line).history.flat());
    const edits = observations.filter((o) => o.observation === 'edit').map((o) => o.content as string);
    const made = edits.filter(
      (text) => text.includes('has been edited.') || text.includes('created successfully'),
    );
    expect(edits.filter((text) => toolFailed(text, null) === true).length).toBe(edits.length - made.length);
    expect(made.filter((text) => toolFailed(text, null) !== null)).toEqual([]);
    const steps: Json[] = JSON.parse(read('swe-agent/pydicom__pydicom-1458.traj')).trajectory;
    const refused = steps.filter((s) => s.observation.includes('Your changes have NOT been applied'));
    expect(refused.length).toBeGreaterThan(0);
    for (const s of refused) expect(toolFailed(s.observation, null)).toBe(true);
  });
});
