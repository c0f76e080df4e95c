import type { Episode } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import type { Segment } from '../schema/segment.ts';
import type { Store } from '../store/store.ts';
import { copyNumbers, listOf, numbersOf } from './column-copy.ts';
import { type Growable, growable, grown, growTo } from './growable.ts';
import { orderedRuns, type Run, rowLayout, SEGMENTS } from './ordered-scan.ts';
import type { TokenColumns } from './trajectories.ts';

/** Tokens of episodes in memory. */
export function tokensOfEpisodes(episodes: readonly Episode[]): TokenColumns {
  const segments = episodes.flatMap((e) => e.segments);
  const segmentOffsets = new Int32Array(episodes.length + 1);
  for (let e = 0; e < episodes.length; e++)
    segmentOffsets[e + 1] = segmentOffsets[e]! + episodes[e]!.segments.length;
  const tokenOffsets = new Int32Array(segments.length + 1);
  for (let g = 0; g < segments.length; g++)
    tokenOffsets[g + 1] = tokenOffsets[g]! + segments[g]!.token_ids.length;
  const n = tokenOffsets.at(-1)!;
  const tokens = {
    segmentOffsets,
    tokenOffsets,
    tokenIds: new Int32Array(n),
    actionMask: new Uint8Array(n),
    behaviourLogprobs: new Float32Array(n).fill(Number.NaN),
    tokenTurn: new Int32Array(n).fill(-1),
  };
  for (let g = 0; g < segments.length; g++) copySegment(tokens, segments[g]!, tokenOffsets[g]!);
  return tokens;
}

/** Tokens of the given episodes (ascending numbers), read from the store in chunks. */
export async function loadTokens(
  store: Store,
  episodes: Float64Array,
  complete: boolean,
): Promise<TokenColumns> {
  const layout = await rowLayout(store, SEGMENTS, episodes, complete);
  const tokenOffsets = new Int32Array(layout.offsets.at(-1)! + 1);
  const tokenIds = growable(Int32Array, 0);
  const actionMask = growable(Uint8Array, 0);
  const behaviourLogprobs = growable(Float32Array, Number.NaN);
  const tokenTurn = growable(Int32Array, -1);
  const select = 'token_ids, action_mask, behaviour_logprobs, token_turn';
  for await (const run of orderedRuns(store, SEGMENTS, select, episodes, layout)) {
    const lengths = listOf(run.columns, 'token_ids').offsets;
    for (let i = run.from, g = run.row; i < run.to; i++, g++)
      tokenOffsets[g + 1] = tokenOffsets[g]! + lengths[i + 1]! - lengths[i]!;
    copyLists(tokenIds, tokenOffsets, run, 'token_ids');
    copyLists(actionMask, tokenOffsets, run, 'action_mask');
    copyLists(behaviourLogprobs, tokenOffsets, run, 'behaviour_logprobs');
    copyLists(tokenTurn, tokenOffsets, run, 'token_turn');
  }
  return {
    segmentOffsets: layout.offsets,
    tokenOffsets,
    tokenIds: grown(tokenIds),
    actionMask: grown(actionMask),
    behaviourLogprobs: grown(behaviourLogprobs),
    tokenTurn: grown(tokenTurn),
  };
}

/** One column of the segments of a run; a null list leaves its tokens empty. */
function copyLists(
  target: Growable<Int32Array | Uint8Array | Float32Array>,
  tokenOffsets: Int32Array,
  { columns, from, to, row }: Run,
  name: string,
): void {
  const { offsets, child, valid } = listOf(columns, name);
  const tokens = numbersOf({ [name]: child }, name);
  growTo(target, tokenOffsets[row + to - from]!);
  for (let i = from, g = row; i < to; i++, g++) {
    if (valid?.[i] === 0) continue;
    if (offsets[i + 1]! - offsets[i]! !== tokenOffsets[g + 1]! - tokenOffsets[g]!)
      throw failure({
        subject: `segments, row ${g}, column ${name}`,
        wrong: 'not as long as token_ids',
        got: offsets[i + 1]! - offsets[i]!,
        expected: `${tokenOffsets[g + 1]! - tokenOffsets[g]!}`,
      });
    copyNumbers(target.values, tokenOffsets[g]!, tokens, offsets[i]!, offsets[i + 1]!, target.empty);
  }
}

function copySegment(
  { tokenIds, actionMask, behaviourLogprobs, tokenTurn }: TokenColumns,
  from: Segment,
  at: number,
): void {
  tokenIds.set(from.token_ids, at);
  for (let i = 0; i < from.token_ids.length; i++) {
    actionMask[at + i] = from.action_mask[i] ? 1 : 0;
    behaviourLogprobs[at + i] = from.behaviour_logprobs?.[i] ?? Number.NaN;
    tokenTurn[at + i] = from.token_turn?.[i] ?? -1;
  }
}
