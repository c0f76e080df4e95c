import type { Finding } from '../schema/check.ts';
import type { ColumnData } from '../store/batch.ts';
import { joinPieces } from '../store/pieces.ts';
import { queryRows, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { LEAST_TOKEN_LOGPROB } from '../weights/stand-in.ts';
import { EXAMPLES, episodeIds } from './rule.ts';
import { TOKEN, type TokenCheck } from './token-checks.ts';
import { type TurnsOfEpisode, turnCursor } from './turn-cursor.ts';

export const TOKEN_CHECKS: readonly TokenCheck[] = Object.values(TOKEN);

/** A segment with fewer sampled tokens than this says nothing about stand-ins. */
const ENOUGH = 8;
/** token_ids themselves are not read. */
const SEGMENTS = `SELECT episode, segment, piece, len(token_ids)::INTEGER AS n, action_mask, behaviour_logprobs, versions,
  token_turn FROM segments`;

/**
 * One pass over the token arrays, in step with the turns of the same episodes. Cost: O(tokens + turns);
 * one chunk of each is in memory.
 */
export async function checkTokens(store: Store): Promise<Finding[]> {
  const tally = new Map<TokenCheck, Tally>();
  const turns = turnCursor(store);
  // Segments lie in order of episode as ingested; sorting their token lists is for damaged stores.
  const sql = (await ordered(store)) ? SEGMENTS : `${SEGMENTS} ORDER BY episode, segment, piece`;
  let current: TurnsOfEpisode | undefined;
  for await (const { rows, columns } of joinPieces(scan(store, sql), ['n'])) {
    const episode = numbers(columns, 'episode').values;
    const segment = numbers(columns, 'segment').values;
    const n = numbers(columns, 'n').values;
    const mask = list(columns, 'action_mask');
    const optional = (['behaviour_logprobs', 'versions', 'token_turn'] as const).map((c) => list(columns, c));
    for (let i = 0; i < rows; i++) {
      if (current?.episode !== episode[i]!) {
        if (current) finishEpisode(current, tally);
        current = await turns.seek(episode[i]!);
      }
      const at = { episode: episode[i]!, segment: segment[i]! };
      const wrong = [mask, ...optional].some((l) => has(l, i) && length(l, i) !== n[i]!);
      if (wrong || !has(mask, i)) {
        const got = [mask, ...optional].map((l) => (has(l, i) ? length(l, i) : 'null'));
        note(tally, TOKEN.lengths, {
          ...at,
          turn: null,
          value: `${n[i]!} tokens, arrays of ${got.join(', ')}`,
        });
        current.known = false;
        continue;
      }
      const [logprobs, versions, tokenTurn] = optional;
      checkSegment(tally, current, at, {
        n: n[i]!,
        mask: part(mask, i)!,
        logprobs: part(logprobs!, i),
        versions: part(versions!, i),
        tokenTurn: part(tokenTurn!, i),
      });
    }
  }
  if (current) finishEpisode(current, tally);
  await turns.close();
  return findings(store, tally);
}

interface SegmentView {
  readonly n: number;
  readonly mask: Part;
  readonly logprobs: Part | null;
  readonly versions: Part | null;
  readonly tokenTurn: Part | null;
}

/** The tokens of one segment; adds what it finds to the turns they belong to. */
function checkSegment(
  tally: Map<TokenCheck, Tally>,
  turns: TurnsOfEpisode,
  at: { readonly episode: number; readonly segment: number },
  { n, mask, logprobs, versions, tokenTurn }: SegmentView,
): void {
  const seen = (check: TokenCheck, turn: number | null, value: string, count = 1): void =>
    note(tally, check, { ...at, turn, value }, count);
  const alone = tokenTurn === null ? turns.onlyOf(at.segment) : -1;
  let sampled = 0;
  let scored = 0;
  let zero = 0;
  let inside = 0; // values in (0, 1]
  let below = 0; // sampled values in (0, 1): a probability that is not 1
  let zeroUnsampled = 0;
  let unsampled = 0;
  let turnBefore = Number.NaN;
  let lastTurn = -1; // that the episode has
  let lastVersion = -Infinity;
  let slot = alone;
  let zeroTurn: number | null = null; // of the first sampled token with 0.0
  /** Number of the turn of a token, as the segment says it or as the only one it can be. */
  const turnOf = (k: number): number | null => {
    if (tokenTurn === null) return alone < 0 ? null : turns.turnAt(alone);
    return given(tokenTurn, k) ? tokenTurn.values[tokenTurn.from + k]! : null;
  };
  for (let k = 0; k < n; k++) {
    const lp = logprobs !== null && given(logprobs, k) ? logprobs.values[logprobs.from + k]! : null;
    if (mask.values[mask.from + k] === 0) {
      if (lp === 0) zeroUnsampled++;
      else if (lp !== null) unsampled++;
      continue;
    }
    sampled++;
    if (lp !== null) {
      scored++;
      if (lp === 0) zero++;
      if (lp > 0 && lp <= 1) inside++;
      if (lp > 0 && lp < 1) below++;
      if (!Number.isFinite(lp)) seen(TOKEN.notFinite, null, `token ${k}: ${lp}`);
      else if (lp < LEAST_TOKEN_LOGPROB) seen(TOKEN.standIn, turnOf(k), `token ${k}: ${lp}`);
      if (lp === 0 && zero === 1) zeroTurn = turnOf(k);
    }
    if (versions !== null && given(versions, k)) {
      const v = versions.values[versions.from + k]!;
      if (v < lastVersion) seen(TOKEN.versionOrder, null, `token ${k}: ${v} after ${lastVersion}`);
      lastVersion = v;
    }
    if (tokenTurn !== null) {
      const turn = given(tokenTurn, k) ? tokenTurn.values[tokenTurn.from + k]! : -1;
      if (turn !== turnBefore) {
        turnBefore = turn;
        slot = turns.slotOf(turn, slot);
        if (slot >= 0 && turn < lastTurn)
          seen(TOKEN.turnOrder, turn, `token ${k}: turn ${turn} after ${lastTurn}`);
        if (slot >= 0) lastTurn = turn;
        if (slot >= 0 && !turns.liesIn(slot, at.segment))
          seen(TOKEN.turnSegment, turn, `segment ${at.segment}`);
      }
      if (slot < 0) seen(TOKEN.turnUnknown, null, `token ${k}: ${turn < 0 ? 'no turn' : `turn ${turn}`}`);
    }
    if (slot >= 0 && turns.liesIn(slot, at.segment)) turns.add(slot, lp);
  }
  if (zeroUnsampled > 0)
    seen(TOKEN.zeroUnsampled, null, `${zeroUnsampled} of ${n - sampled} tokens`, zeroUnsampled);
  if (unsampled > 0) seen(TOKEN.unsampled, null, `${unsampled} of ${n - sampled} tokens`, unsampled);
  if (scored > 0 && scored < sampled)
    seen(TOKEN.missing, null, `${sampled - scored} of ${sampled} sampled tokens`, sampled - scored);
  if (scored >= ENOUGH && zero > scored / 2)
    seen(TOKEN.zeroSampled, zeroTurn, `${zero} of ${scored} tokens`, zero);
  const probabilities = scored >= ENOUGH && inside === scored && below > 0;
  if (probabilities) seen(TOKEN.probability, null, `${scored} tokens`, scored);
  else if (logprobs !== null)
    positives(logprobs, mask, n, (k, lp) => seen(TOKEN.positive, null, `token ${k}: ${lp}`));
}

/** Calls for every sampled token above 0, beyond rounding. */
function positives(logprobs: Part, mask: Part, n: number, found: (k: number, lp: number) => void): void {
  for (let k = 0; k < n; k++) {
    const lp = logprobs.values[logprobs.from + k]!;
    if (lp > 1e-6 && lp < Infinity && given(logprobs, k) && mask.values[mask.from + k] !== 0) found(k, lp);
  }
}

/** Compares what the turns say with what their tokens add up to. */
function finishEpisode(turns: TurnsOfEpisode, tally: Map<TokenCheck, Tally>): void {
  if (!turns.known) return;
  for (const t of turns.differences()) {
    const at = { episode: turns.episode, turn: t.turn, segment: t.segment };
    if (t.countWanted !== null)
      note(tally, TOKEN.count, { ...at, value: `${t.countWanted}, but ${t.count} sampled tokens` });
    if (t.sumWanted !== null)
      note(tally, TOKEN.sum, { ...at, value: `${t.sumWanted}, but the tokens sum to ${t.sum}` });
  }
}

interface Tally {
  count: number;
  readonly examples: Place[];
}
interface Place {
  readonly episode: number;
  readonly turn: number | null;
  readonly segment: number | null;
  readonly value: string;
}

function note(tally: Map<TokenCheck, Tally>, check: TokenCheck, place: Place, count = 1): void {
  let t = tally.get(check);
  if (!t) tally.set(check, (t = { count: 0, examples: [] }));
  t.count += count;
  if (t.examples.length < EXAMPLES) t.examples.push(place);
}

async function findings(store: Store, tally: Map<TokenCheck, Tally>): Promise<Finding[]> {
  const names = await episodeIds(
    store,
    [...tally.values()].flatMap((t) => t.examples.map((e) => e.episode)),
  );
  const found: Finding[] = [];
  for (const check of TOKEN_CHECKS) {
    const t = tally.get(check);
    if (!t) continue;
    const examples = t.examples.map((e) => ({
      ...e,
      episode: names.get(e.episode) ?? null,
      column: check.column,
    }));
    const { code, severity, message, fix } = check;
    found.push({ code, severity, message, count: t.count, examples, fix });
  }
  return found;
}

async function ordered(store: Store): Promise<boolean> {
  const [row] = await queryRows(
    store,
    'SELECT bool_or(early) AS early FROM (SELECT episode < lag(episode) OVER () AS early FROM segments)',
  );
  return row!.early !== true;
}

/** Row i of a list column, as a stretch of its child. */
interface Part {
  readonly values: ArrayLike<number>;
  readonly valid: Uint8Array | undefined;
  readonly from: number;
}
type NumberColumn = Exclude<ColumnData, { kind: 'text' | 'list' }>;
type ListColumn = Extract<ColumnData, { kind: 'list' }>;
type Columns = Readonly<Record<string, ColumnData>>;

const numbers = (columns: Columns, name: string): NumberColumn => columns[name] as NumberColumn;
const list = (columns: Columns, name: string): ListColumn => columns[name] as ListColumn;
const has = (l: ListColumn, i: number): boolean => l.valid === undefined || l.valid[i] !== 0;
const length = (l: ListColumn, i: number): number => l.offsets[i + 1]! - l.offsets[i]!;
const given = (p: Part, k: number): boolean => p.valid === undefined || p.valid[p.from + k] !== 0;
function part(l: ListColumn, i: number): Part | null {
  if (!has(l, i)) return null;
  const child = l.child as NumberColumn;
  return { values: child.values, valid: child.valid, from: l.offsets[i]! };
}
