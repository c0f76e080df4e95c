import type { TrainedOn } from '../schema/trained-on.ts';
import type { Warning } from '../schema/warning.ts';
import { countedWords } from '../weights/words.ts';

/** That what the caller says of a target's training stands for what the target says itself, where the two differ. */
export function trainedOnOverride(given: TrainedOn | undefined, own: TrainedOn): Warning[] {
  if (given === undefined || JSON.stringify(given) === JSON.stringify(own)) return [];
  const say = (x: TrainedOn): string =>
    typeof x === 'string'
      ? x
      : `${countedWords(x.sources.length, 'source')} and ${countedWords(x.tasks.length, 'task')}`;
  return [
    {
      code: 'trained-on-override',
      message: `--trained-on ${typeof given === 'string' ? given : 'FILE'} stands for what the target says of its training (${say(own)})`,
    },
  ];
}
