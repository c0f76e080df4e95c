import type { EpisodeInput } from '../../schema/episode.ts';
import type { LogFormat } from '../log-format.ts';
import { atif } from './atif.ts';
import { chat } from './chat.ts';
import { isFields } from './fields.ts';
import { tauBench } from './tau-bench.ts';

/** Canonical records that do not lie one a line, which has a faster reader: pretty-printed, or in an array. */
export const canonicalRecords: LogFormat = {
  name: 'canonical',
  units: ['line', 'element', 'document'],
  recognise(first) {
    if (!isFields(first) || !Array.isArray(first.turns)) return 0;
    return 'episode_id' in first ? 1 : 0.6;
  },
  // It is checked as every canonical record is.
  read: (record) => [{ episode: record as EpisodeInput }],
};

/** Formats whose records are turned into episodes one by one. */
export const recordFormats: readonly LogFormat[] = [tauBench, chat, atif];

/** What detection asks: every JSON format, those with a reader of their own among them. */
export const recognisers: readonly Pick<LogFormat, 'name' | 'units' | 'recognise'>[] = [
  canonicalRecords,
  {
    name: 'scores',
    units: ['line'],
    recognise(first) {
      if (!isFields(first) || !('policy' in first) || 'turns' in first) return 0;
      return ['logprob', 'log_propensity', 'logprobs'].some((name) => name in first) ? 1 : 0;
    },
  },
  ...recordFormats,
];
