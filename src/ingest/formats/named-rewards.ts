import { asFieldsOrNull, asNumber, asNumberOrNull, field, isFields } from './fields.ts';

export type NamedRewards = Record<string, { score: number; weight: number }>;

/** {name: score} or {name: {score, weight}}; a bare score weighs 1. Throws RecordError. */
export function namedRewards(value: unknown): NamedRewards | null {
  const rewards = asFieldsOrNull(value, 'rewards');
  if (rewards === null) return null;
  return Object.fromEntries(
    Object.entries(rewards).map(([name, part]) => {
      const path = `rewards.${name}`;
      if (!isFields(part)) return [name, { score: asNumber(part, path), weight: 1 }];
      const score = asNumber(field(part, 'score'), `${path}.score`);
      return [name, { score, weight: asNumberOrNull(field(part, 'weight'), `${path}.weight`) ?? 1 }];
    }),
  );
}

/** Σ weight · score; null where no part is named. */
export function weightedSum(rewards: NamedRewards | null): number | null {
  const parts = rewards === null ? [] : Object.values(rewards);
  if (parts.length === 0) return null;
  return asNumber(
    parts.reduce((sum, part) => sum + part.score * part.weight, 0),
    'the weighted sum of rewards',
  );
}
