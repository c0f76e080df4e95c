import type { Measure } from '../weights/ratios.ts';
import { COPIES } from './check-copies.ts';

/** What a finding of `check` makes of the verdict on a target. */
export type Effect = 'refused' | 'weak' | 'nothing';

/** Of what a finding counts its rows, and which share of them makes what of a verdict. */
interface Rule {
  readonly of: 'episodes' | 'turns';
  /** Only for targets by this measure; absent: any. */
  readonly measure?: Measure;
  /** Refused from this share on; absent: never. */
  readonly refused?: number;
  /** Weak from this share on; absent: never. */
  readonly weak?: number;
  /** Why. */
  readonly because: string;
}

const ANY = Number.MIN_VALUE;
const FEW = 0.05;
const damaged = (of: Rule['of']): Rule => ({ of, refused: ANY, because: 'the store is damaged' });

/**
 * The findings that touch a verdict. What is known to be wrong is never above what is unknown: where it enters every
 * weight or return it refuses, where it may be as it should it is weak. A finding that is not here changes none: it is
 * about what no value rests on, or the audit has a reason of its own for it.
 */
export const EFFECTS: Readonly<Record<string, Rule>> = {
  'logprob-raw-of-other-sampling': {
    of: 'turns',
    measure: 'logprob',
    refused: FEW,
    weak: ANY,
    because: 'the weights are not those of the policy that acted',
  },
  'logprob-kind-mixed': {
    of: 'turns',
    measure: 'logprob',
    weak: ANY,
    because: 'weights of the two kinds differ for turns that do not',
  },
  'logprob-zero-sampled': {
    of: 'turns',
    measure: 'logprob',
    weak: FEW,
    because: 'a stand-in for a log-probability makes a weight of the target’s probability alone',
  },
  'score-of-nothing': {
    of: 'turns',
    weak: ANY,
    because: 'the scores are not of these logs, or not all of them are',
  },
  'reward-twice': {
    of: 'episodes',
    weak: FEW,
    because: 'a return that is counted twice is not the target’s',
  },
  'agent-exception': {
    of: 'episodes',
    weak: FEW,
    because: 'the reward of a rollout that died says nothing of how it would have gone',
  },
  rejects: {
    of: 'episodes',
    weak: FEW,
    because: 'records that could not be read may be those that went otherwise',
  },
  'turn-gap': {
    of: 'episodes',
    weak: FEW,
    because: 'the ratios of the turns that are missing are missing, too',
  },
  [COPIES]: { of: 'episodes', refused: 0.1, weak: ANY, because: 'errors are smaller than they should be' },
  'turn-count': damaged('episodes'),
  'episode-repeated': damaged('episodes'),
  'turn-repeated': damaged('turns'),
  'turn-order': damaged('turns'),
  'segment-broken': damaged('episodes'),
  'turn-without-episode': damaged('turns'),
  'score-without-episode': { of: 'turns', weak: ANY, because: 'the scores are not of these logs' },
};

/** Findings that change no verdict, with why; every code of `check` is here or in EFFECTS. */
export const NO_EFFECT: Readonly<Record<string, string>> = {
  'no-turns': 'an episode without turns has weight 1 whatever the policy',
  'reward-missing': 'counted among the missing returns',
  'reward-on-aborted': 'not used',
  'reward-not-finite': 'left out, and counted among the missing returns',
  'return-not-finite': 'left out, and counted among the missing returns',
  'turn-reward-not-finite': 'left out, and counted among the missing returns',
  'time-reversed': 'times enter no value',
  'version-lag': 'ratios are against the version of each turn',
  'version-reversed': 'ratios are against the version of each turn',
  'gold-in-meta': 'never read as state',
  'gold-in-observation': 'the target is evaluated on what the agent saw, right answers included',
  'missing-task': 'each episode is its own cluster; whether some share a task is not known',
  'ambiguous-task': 'two tasks in one cluster make errors larger, not smaller',
  'duplicate-episode': 'copies within a task are in one cluster, so that errors are right',
  'duplicate-tokens': 'copies under other tasks are told as copied-episode',
  'duplicate-response': 'a template',
  'results-orphaned': 'not part of a weight or a return',
  'calls-unread': 'not part of a weight or a return',
  'tool-error-unknown': 'not part of a weight or a return',
  'empty-turn': 'not part of a weight or a return',
  'segment-missing': 'turns without log-probabilities are told by their coverage',
  'segment-without-episode': 'belongs to no episode that is evaluated',
  'logprob-stand-in': 'the sums are null, and told by their coverage',
  'logprob-stand-in-used': 'refused as no log-probability',
  'logprob-not-finite': 'refused as no log-probability',
  'logprob-positive': 'refused as no log-probability',
  'logprob-is-probability': 'refused as no log-probability',
  'logprob-partial': 'told by the coverage of the logs',
  'logprob-none': 'refused without the behaviour',
  'logprob-constant': 'the audit has a reason for a constant',
  'propensity-constant': 'the audit has a reason for a constant',
  'propensity-uniform': 'an even choice is a choice',
  'logprob-kind-unknown': 'the audit has a reason for it',
  'sampling-mixed': 'ratios are against the probability of each turn',
  'length-mismatch': 'sums that cannot be formed are null, and told by their coverage',
  'logprob-zero-unsampled': 'tokens that were not sampled are in no weight',
  'logprob-unsampled': 'tokens that were not sampled are in no weight',
  'logprob-missing': 'turns without log-probabilities are told by their coverage',
  'token-turn-unknown': 'sums that cannot be formed are null, and told by their coverage',
  'token-turn-order': 'sums are by turn, whatever their order',
  'token-turn-segment': 'sums that cannot be formed are null, and told by their coverage',
  'action-token-count': 'counts of tokens are in no weight',
  'token-version-reversed': 'ratios are against the version of each turn',
  'logprob-sum': 'told by check; an audit does not read the tokens',
  'temperature-zero': 'told by the effective sample size, or as raw log-probabilities of other sampling',
};

/** What a share of the rows makes of a verdict by this measure. */
export function effectOf(code: string, share: number, measure: Measure): Effect {
  const rule = EFFECTS[code];
  if (rule === undefined || (rule.measure !== undefined && rule.measure !== measure)) return 'nothing';
  if (share >= (rule.refused ?? Infinity)) return 'refused';
  return share >= (rule.weak ?? Infinity) ? 'weak' : 'nothing';
}
