import type { Warning } from '../schema/warning.ts';
import type { PolicyFile } from './policy-file.ts';

const SHOWN = 12;

/** The classes that a target gives probability to and no turn of the logs has: misspelled, or never tried. */
export function classesNotLogged({ rules }: PolicyFile, logged: readonly string[]): Warning[] {
  const named = new Set(
    rules.flatMap(({ probabilities }) =>
      Object.keys(probabilities).filter((name) => probabilities[name]! > 0),
    ),
  );
  const missing = [...named].filter((name) => !logged.includes(name));
  if (missing.length === 0) return [];
  const there = [...logged].sort();
  const have = `${there.slice(0, SHOWN).join(', ')}${there.length > SHOWN ? ', …' : ''}`;
  return [
    {
      code: 'class-not-logged',
      message: `${missing.length === 1 ? 'class' : 'classes'} ${missing.map((name) => `\`${name}\``).join(', ')} ${missing.length === 1 ? 'is' : 'are'} not in these logs; they have: ${have}`,
      count: missing.length,
      column: 'action_class',
    },
  ];
}
