import { failure } from '../schema/error.ts';
import { type Parameters, queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** Whose episodes one side of a comparison holds: a condition on `episodes` under the alias e. */
export interface Selection {
  readonly selector: string;
  readonly where: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

interface Source {
  readonly source: number;
  readonly path: string;
  readonly sha256: string;
}

/** What a store can be asked for by name. */
interface Names {
  readonly policies: ReadonlySet<string>;
  readonly versions: ReadonlyMap<string, ReadonlySet<string>>;
  readonly sources: readonly Source[];
}

const SOURCE = 'source:';
const SHOWN = 20;

/**
 * Resolves two selectors: a policy name; `name@version`, the episodes that began and ended under that
 * version; or `source:FILE`, a path or its end, or the first six or more digits of a SHA-256. A name that
 * is in the logs as it stands comes first, so that names may hold "@" and ":". Unknown, ambiguous, or
 * sharing an episode: a usage error.
 */
export async function selectPolicies(store: Store, a: string, b: string): Promise<[Selection, Selection]> {
  const names = await readNames(store);
  const pair: [Selection, Selection] = [selection(names, a, 'a'), selection(names, b, 'b')];
  const [row] = await queryRows(
    store,
    `SELECT count(*) AS n FROM episodes e WHERE (${pair[0].where}) AND (${pair[1].where})`,
    bothParameters(pair),
  );
  if (row!.n !== 0)
    throw failure({
      subject: `"${a}" and "${b}"`,
      wrong: 'share episodes, and a policy cannot be compared with itself',
      got: `${row!.n} on both sides`,
      expected: 'two sets of episodes',
      fix: 'Name a version (name@version) or a file (source:FILE) on both sides.',
      exitCode: 2,
    });
  return pair;
}

/** The parameters of both sides, for a query that holds both conditions. */
export const bothParameters = ([a, b]: readonly [Selection, Selection]): Parameters => ({
  ...a.parameters,
  ...b.parameters,
});

/**
 * The two selectors of `--policies A,B`, or of the flag given twice. Names may hold commas: the comma
 * that leaves a known name on either side is the one that counts.
 */
export async function policyPair(store: Store, given: readonly string[]): Promise<[string, string]> {
  const [first, second] = given;
  if (given.length === 2) return [first!, second!];
  const wrong = (what: string) =>
    failure({
      subject: '--policies',
      wrong: what,
      got: given.map((g) => `"${g}"`).join(', '),
      expected: 'A,B, or the flag twice',
      exitCode: 2,
    });
  if (given.length !== 1) throw wrong('takes two policies');
  const parts = first!.split(',');
  const splits = parts
    .slice(1)
    .map((_, k): [string, string] => [
      parts
        .slice(0, k + 1)
        .join(',')
        .trim(),
      parts
        .slice(k + 1)
        .join(',')
        .trim(),
    ])
    .filter(([a, b]) => a !== '' && b !== '');
  if (splits.length === 0) throw wrong('takes two policies');
  if (splits.length === 1) return splits[0]!;
  const names = await readNames(store);
  const known = splits.filter(
    ([a, b]) => resolved(names, a, 'a') !== null && resolved(names, b, 'b') !== null,
  );
  if (known.length === 1) return known[0]!;
  throw wrong(
    known.length === 0
      ? 'names no two policies of this store'
      : 'can be read in several ways; give the flag twice',
  );
}

async function readNames(store: Store): Promise<Names> {
  const versions = new Map<string, Set<string>>();
  const policies = new Set<string>();
  for (const row of await queryRows(
    store,
    `SELECT DISTINCT policy, coalesce(version_start, version_end) AS version FROM episodes
     WHERE policy IS NOT NULL ORDER BY policy, version`,
  )) {
    const policy = row.policy as string;
    policies.add(policy);
    if (row.version === null) continue;
    if (!versions.has(policy)) versions.set(policy, new Set());
    versions.get(policy)!.add(row.version as string);
  }
  const sources = await queryRows(store, 'SELECT source, path, sha256 FROM sources ORDER BY source');
  return { policies, versions, sources: sources as unknown as Source[] };
}

function selection(names: Names, selector: string, side: string): Selection {
  const found = resolved(names, selector, side);
  if (found) return found;
  const known = [
    ...[...names.policies].map((name) => `"${name}"`),
    ...names.sources.map((s) => `"${SOURCE}${s.path}"`),
  ];
  const at = selector.lastIndexOf('@');
  const versions = at > 0 ? names.versions.get(selector.slice(0, at)) : undefined;
  throw failure({
    subject: 'turnwise compare',
    wrong: versions ? 'no episode began and ended under that version' : 'unknown policy',
    got: `"${selector}"`,
    expected: versions
      ? `one of the versions ${listed([...versions])}`
      : known.length === 0
        ? 'a store with named policies; this one holds none'
        : `one of ${listed(known)}`,
    exitCode: 2,
  });
}

function resolved(names: Names, selector: string, side: string): Selection | null {
  if (names.policies.has(selector))
    return { selector, where: `e.policy = $${side}`, parameters: { [side]: selector } };
  const at = selector.lastIndexOf('@');
  const policy = selector.slice(0, at);
  const version = selector.slice(at + 1);
  if (at > 0 && names.versions.get(policy)?.has(version))
    return {
      selector,
      where: `e.policy = $${side} AND coalesce(e.version_start, e.version_end) = $${side}_version
        AND coalesce(e.version_end, e.version_start) = $${side}_version`,
      parameters: { [side]: policy, [`${side}_version`]: version },
    };
  if (!selector.startsWith(SOURCE)) return null;
  const source = sourceOf(names.sources, selector.slice(SOURCE.length));
  return source ? { selector, where: `e.source = $${side}`, parameters: { [side]: source.source } } : null;
}

/** By the whole path, else by its end, else by the hash; two that fit are a usage error. */
function sourceOf(sources: readonly Source[], text: string): Source | null {
  if (text === '') return null;
  for (const fits of [
    (s: Source) => s.path === text,
    (s: Source) => s.path.endsWith(`/${text}`),
    (s: Source) => /^[0-9a-f]{6,64}$/i.test(text) && s.sha256.startsWith(text.toLowerCase()),
  ]) {
    const found = sources.filter(fits);
    if (found.length === 1) return found[0]!;
    if (found.length > 1)
      throw failure({
        subject: 'turnwise compare',
        wrong: 'several files fit',
        got: `"${SOURCE}${text}"`,
        expected: `one of ${listed(found.map((s) => `"${SOURCE}${s.sha256.slice(0, 12)}" (${s.path})`))}`,
        exitCode: 2,
      });
  }
  return null;
}

const listed = (items: readonly string[]): string =>
  items.length <= SHOWN
    ? items.join(', ')
    : `${items.slice(0, SHOWN).join(', ')} and ${items.length - SHOWN} more`;
