import { failure } from '../../schema/error.ts';
import type { Columns, EpisodeArrays } from './columns.ts';
import { ROUNDING } from './weigh.ts';

const NAMES = ['offsets', 'behaviour', 'target', 'rewards', 'clusters', 'q'];

/** Whether the columns are there, each of its type; a plain array or another width would be read wrongly or slowly. */
function checkKinds(arrays: EpisodeArrays): void {
  if (typeof arrays !== 'object' || arrays === null)
    throw failure({
      subject: 'estimateArrays',
      wrong: 'is given no columns',
      got: String(arrays),
      expected: `an object of ${NAMES.join(', ')}`,
      exitCode: 2,
    });
  const unknown = Object.keys(arrays).find((name) => !NAMES.includes(name));
  if (unknown !== undefined)
    throw wrong(unknown, 'is not known', `"${unknown}"`, `some of ${NAMES.join(', ')}`);
  const { offsets, behaviour, target, rewards, clusters, q } = arrays;
  const must = (name: string, x: unknown, type: Int32ArrayConstructor | Float64ArrayConstructor): void => {
    if (!(x instanceof type)) throw wrong(name, 'is of another type', kindOf(x), type.name);
  };
  must('offsets', offsets, Int32Array);
  must('behaviour', behaviour, Float64Array);
  must('target', target, Float64Array);
  must('rewards', rewards, Float64Array);
  if (typeof clusters !== 'object' || clusters === null)
    throw wrong('clusters', 'is not there', kindOf(clusters), '{ of: Int32Array, count }');
  must('clusters.of', clusters.of, Int32Array);
  if (!Number.isSafeInteger(clusters.count) || clusters.count < 1)
    throw wrong(
      'clusters.count',
      'is no number of clusters',
      String(clusters.count),
      'a whole number from 1',
    );
  if (q === undefined || q === null) return;
  must('q.logged', q.logged, Float64Array);
  must('q.v', q.v, Float64Array);
}

const kindOf = (x: unknown): string =>
  x === undefined || x === null
    ? 'nothing'
    : typeof x === 'object'
      ? (x.constructor?.name ?? 'plain object')
      : typeof x;

/** Stages of the longest episode, once the columns are what they are said to be. O(episodes). */
export function checkArrays(arrays: EpisodeArrays): number {
  checkKinds(arrays);
  const { offsets, behaviour, target, rewards, clusters, q } = arrays;
  const n = offsets.length - 1;
  if (n < 1)
    throw wrong('offsets', 'holds no episode', `${offsets.length} offsets`, 'one more than episodes');
  const turns = offsets[n]!;
  const columns = { behaviour, target, rewards, ...(q && { 'q.logged': q.logged, 'q.v': q.v }) };
  for (const [name, x] of Object.entries(columns))
    if (x.length !== turns)
      throw wrong(name, 'is not one number a turn', `${x.length}`, `${turns}, as the last offset says`);
  if (clusters.of.length !== n)
    throw wrong('clusters.of', 'is not one code an episode', `${clusters.of.length}`, `${n}`);
  if (offsets[0] !== 0) throw wrong('offsets', 'does not start at the first turn', `${offsets[0]}`, '0');
  let stages = 0;
  for (let i = 0; i < n; i++) {
    const length = offsets[i + 1]! - offsets[i]!;
    if (!(length >= 1)) throw wrong('offsets', `episode ${i} has no turn`, `${length} turns`, 'at least 1');
    const code = clusters.of[i]!;
    if (!(code >= 0 && code < clusters.count))
      throw wrong('clusters.of', `episode ${i} is in no cluster`, `${code}`, `0 to ${clusters.count - 1}`);
    if (length > stages) stages = length;
  }
  return stages;
}

/** Refuses a number that makes no weight or no return, naming its turn. O(turns): called once sums say that one is there. */
export function checkTurns({ offsets, behaviour, target, rewards, q }: Columns): void {
  const bad = (column: string, x: Float64Array, allowed: (value: number) => boolean, expected: string) => {
    const k = x.findIndex((value) => !allowed(value));
    if (k < 0) return;
    const i = offsets.findIndex((from) => from > k) - 1;
    throw wrong(column, `episode ${i}, turn ${k - offsets[i]!} is no such number`, `${x[k]}`, expected);
  };
  bad('behaviour', behaviour, (x) => x > -Infinity && x <= ROUNDING, 'a finite log-probability, at most 0');
  bad('target', target, (x) => x <= ROUNDING, 'a log-probability, at most 0, or −∞');
  bad('rewards', rewards, Number.isFinite, 'a finite number');
  if (q === null) return;
  bad('q.logged', q.logged, Number.isFinite, 'a finite number');
  bad('q.v', q.v, Number.isFinite, 'a finite number');
}

const wrong = (column: string, what: string, got: string, expected: string) =>
  failure({ subject: `episode arrays, column ${column}`, wrong: what, got, expected, exitCode: 2 });
