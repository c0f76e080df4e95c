/* How a run of the suite is judged: what each test came to, and what is not as the table of known gaps has it. */
import type { Spec } from './in-bundle.ts';
import { CPU_ONLY, FAILS, MISSING, NO_TYPES, NOT_APPLICABLE, SYNC_READS } from './known.ts';

export const OUTCOMES = ['passed', 'failed', 'refused', 'not applicable', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface FileCounts extends Record<Outcome, number> {
  file: string;
}

export interface Run {
  readonly backend: string;
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly files: readonly FileCounts[];
  /** Tests by what the backend refused in them, in all files. */
  readonly refused: Readonly<Record<string, number>>;
  readonly failures: readonly {
    readonly test: string;
    readonly why: string;
    readonly messages: readonly string[];
  }[];
}

export const testOf = ({ file, name }: Spec): string => `${file}: ${name}`;

const REFUSAL = /is not on the \S+ backend|no such type|cannot be read synchronously|decode the string bytes/;

/**
 * A refusal counts even where the test passed: it expected an error and was content with ours. A test that failed is
 * refused only if it failed for that.
 */
export function outcomeOf(spec: Spec, backend: string): Outcome {
  if (spec.status === 'pending' || spec.status === 'excluded') return 'pending';
  const explained = spec.refused.length > 0 && spec.messages.some((text) => REFUSAL.test(text));
  if (spec.status === 'failed' && !explained) return 'failed';
  if (backend !== 'cpu' && NOT_APPLICABLE.includes(spec.file)) return 'not applicable';
  return spec.refused.length > 0 ? 'refused' : 'passed';
}

const none = (): Record<Outcome, number> =>
  Object.fromEntries(OUTCOMES.map((name) => [name, 0])) as Record<Outcome, number>;

export function summary(specs: readonly Spec[], backend: string): Run {
  const [counts, refused] = [none(), {} as Record<string, number>];
  const files = new Map<string, FileCounts>();
  const failures: Run['failures'][number][] = [];
  for (const spec of specs) {
    const own = files.get(spec.file) ?? { file: spec.file, ...none() };
    files.set(spec.file, own);
    const outcome = outcomeOf(spec, backend);
    counts[outcome]++;
    own[outcome]++;
    for (const name of spec.refused) refused[name] = (refused[name] ?? 0) + 1;
    if (outcome === 'failed')
      failures.push({
        test: testOf(spec),
        why: FAILS[backend]?.[testOf(spec)] ?? 'unknown',
        messages: spec.messages,
      });
  }
  return { backend, counts, files: [...files.values()], refused, failures };
}

/** What is not as known, in words; empty when all is as known. */
export function problems(specs: readonly Spec[], backend: string): string[] {
  const failed = specs.filter((spec) => outcomeOf(spec, backend) === 'failed').map(testOf);
  if (backend === 'cpu') return failed.map((test) => `fails on cpu too: ${test}`);
  const known = FAILS[backend] ?? {};
  const seen = new Set(specs.map(({ file }) => file));
  const here = (test: string): boolean => seen.has(test.slice(0, test.indexOf(': ')));
  const missing = new Set([
    ...Object.values(MISSING)
      .flat()
      .map((x) => `kernel ${x}`),
    ...NO_TYPES.map((x) => `type ${x}`),
  ]);
  const sync = specs.filter(({ refused }) => refused.includes('synchronous read')).map(testOf);
  const refusing = new Set(specs.filter(({ refused }) => refused.length > 0).map(({ file }) => file));
  return [
    ...failed.filter((test) => !Object.hasOwn(known, test)).map((test) => `fails: ${test}`),
    ...sync.filter((test) => !Object.hasOwn(SYNC_READS, test)).map((test) => `reads synchronously: ${test}`),
    ...specs.flatMap((spec) =>
      spec.refused
        .filter((name) => name !== 'synchronous read' && !missing.has(name))
        .map((name) => `refused, and not known to be missing: ${name} in ${testOf(spec)}`),
    ),
    ...Object.keys(SYNC_READS)
      .filter((test) => here(test) && !sync.includes(test))
      .map((test) => `known to read synchronously, and does not: ${test}`),
    ...NOT_APPLICABLE.filter((file) => seen.has(file) && !refusing.has(file)).map(
      (file) => `listed as not applicable, and nothing in it was refused: ${file}`,
    ),
  ];
}

/** Entries of the table that a run of every file did not show, and tests that only one backend declared. */
export function leftOver(specs: readonly Spec[], reference: readonly Spec[] | null): string[] {
  const refused = new Set(specs.flatMap((spec) => spec.refused));
  const out = [
    ...Object.values(MISSING)
      .flat()
      .filter((name) => !refused.has(`kernel ${name}`))
      .map((name) => `listed as missing, and no test was refused for it: kernel ${name}`),
    ...NOT_APPLICABLE.filter((file) => !specs.some((spec) => spec.file === file)).map(
      (file) => `listed as not applicable, and there is no such file: ${file}`,
    ),
  ];
  if (reference === null) return out;
  const own = new Set(specs.map(testOf));
  const only = reference.map(testOf).filter((test) => !own.has(test));
  return [
    ...out,
    ...only.filter((test) => !CPU_ONLY.includes(test)).map((test) => `declared on cpu alone: ${test}`),
  ];
}
