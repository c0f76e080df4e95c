import type { Reason } from '../schema/audit.ts';
import { shareWords } from '../weights/words.ts';
import type { Evidence } from './reasons.ts';

/** What `check` knows of the logs and a verdict cannot pass over. */
export const knownFaults = ({ findings = [] }: Evidence): Reason[] =>
  findings.flatMap(({ effect, code, message, because, share, of }): Reason[] =>
    effect === 'nothing'
      ? []
      : [
          {
            code: 'known-fault',
            verdict: effect,
            message: `check finds ${code} in ${shareWords(share)} of the ${of}: ${message}; ${because}`,
            value: share,
            threshold: null,
          },
        ],
  );
