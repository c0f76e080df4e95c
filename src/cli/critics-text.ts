import { counted, formatCount } from '../report/format.ts';
import { inline } from '../report/plain.ts';
import type { SavedCritic } from '../schema/saved-critic.ts';
import { wrap } from './table.ts';

/** The critics whose turn values a store holds, for a person; nothing where there are none. */
export function criticsText(critics: readonly SavedCritic[]): string {
  if (critics.length === 0) return '';
  return `Saved critics\n${critics.map((c) => wrap(inline(criticLine(c)), 96)).join('')}`;
}

function criticLine(c: SavedCritic): string {
  const values = counted(c.values, 'turn value');
  if (c.episodes === null) return `${c.critic}: of unknown origin; ${values}`;
  const of = c.policies === null ? '' : ` of ${c.policies.join(', ')}`;
  return `${c.critic}: ${c.state}; ${c.method}; kept ${c.fittedAt}; fitted on ${formatCount(c.episodes)} episodes${of}; ${values}`;
}
