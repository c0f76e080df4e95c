import type { FormatNote } from '../notes.ts';
import type { ChatTurns } from './messages.ts';

/** What is told of the turns of an episode beside the turns themselves, for its meta. */
export function* aboutTurns(found: ChatTurns): Generator<readonly [name: string, value: unknown]> {
  if (found.reasoningTurns > 0) yield ['reasoning_turns', found.reasoningTurns];
  if (found.partialLogprobTurns > 0) yield ['partial_logprob_turns', found.partialLogprobTurns];
  if (found.standInTurns.length > 0) yield ['stand_in_logprob_turns', found.standInTurns];
  if (found.orphanedResults > 0) yield ['orphaned_results', found.orphanedResults];
  if (found.finalObservation !== null) yield ['final_observation', found.finalObservation];
}

/** What of its calls and results is worth a warning. */
export function turnNotes(found: ChatTurns): FormatNote[] {
  const notes: FormatNote[] = [];
  for (const [about, count] of found.unreadCalls) notes.push({ code: 'calls-unread', about, count });
  if (found.orphanedResults > 0)
    notes.push({ code: 'results-orphaned', about: 'results', count: found.orphanedResults });
  const { partialLogprobTurns: partial, standInTurns } = found;
  const standIns = standInTurns.length;
  if (partial > standIns)
    notes.push({ code: 'logprobs-partial', about: 'do not cover the action', count: partial - standIns });
  if (standIns > 0)
    notes.push({ code: 'logprobs-partial', about: 'hold a stand-in such as −9999', count: standIns });
  return notes;
}
