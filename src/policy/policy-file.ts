import { z } from 'zod';
import { TrainedOn } from '../schema/trained-on.ts';

const Literal = z.union([z.number(), z.string()]);
const Matched = z.union([Literal, z.array(Literal).min(1)]);

/** What a rule may look at: all of it is known before the turn's action is taken. */
export const WHEN_KEYS = 'turn, features.K, task_id or last_action_class';
const isWhenKey = (key: string): boolean =>
  /^(turn|features\.(0|[1-9]\d*)|task_id|last_action_class)$/.test(key);

/** How far from 1 the probabilities of a rule may sum: a softmax in float32 is off by as much. */
const SUM_TOLERANCE = 1e-6;
/** What a sum of decimals is off by as doubles: three times 0.333333 is 1e-6 and some 1e-17 from 1. */
const ROUNDING = 1e-12;

/** The two mistakes that have a name: the logarithm, and a density or a percentage. */
const Probability = z
  .number()
  .min(0, { error: ({ input }) => `is negative, got ${input}, expected a probability, not its logarithm` })
  .max(1 + SUM_TOLERANCE, { error: ({ input }) => `is above 1, got ${input}, expected a probability` });

export const PolicyRule = z.strictObject({
  when: z
    .record(z.string(), Matched)
    .default({})
    .describe(
      `Conditions that must all hold; keys ${WHEN_KEYS}; a value or a list of values. Turns count from 0. ` +
        'The first turn has no last action class. Empty: always.',
    ),
  probabilities: z
    .record(z.string(), Probability)
    .describe(
      'Action class → π; absent: 0. They sum to 1 within 1e-6, and are divided by their sum where float32 left it off 1.',
    ),
});
export type PolicyRule = z.infer<typeof PolicyRule>;

/**
 * A declared tabular policy: rules over what is known before the turn; the first rule whose `when`
 * matches gives π(· | s) over declared action classes.
 */
export const PolicyFile = z
  .strictObject({
    policy: z.string().min(1).describe('Name of the target policy.'),
    trained_on: TrainedOn,
    logprob_kind: z.literal('propensity').default('propensity').describe('Probabilities of action classes.'),
    rules: z.array(PolicyRule).min(1),
  })
  .check(({ value, issues }) => {
    const issue = (path: (string | number)[], message: string) =>
      issues.push({ code: 'custom', path, message, input: value });
    for (const [i, rule] of value.rules.entries()) {
      const total = Object.values(rule.probabilities).reduce((a, b) => a + b, 0);
      if (!(Math.abs(total - 1) <= SUM_TOLERANCE + ROUNDING))
        issue(['rules', i, 'probabilities'], `sum to ${total}, expected 1 within ${SUM_TOLERANCE}`);
      for (const [key, wanted] of Object.entries(rule.when)) {
        const at = ['rules', i, 'when', key];
        if (!isWhenKey(key)) {
          issue(at, `unknown key, expected ${WHEN_KEYS}`);
          continue;
        }
        const type = key === 'turn' || key.startsWith('features.') ? 'number' : 'string';
        for (const one of Array.isArray(wanted) ? wanted : [wanted])
          if (typeof one !== type) issue(at, `got ${JSON.stringify(one)}, expected a ${type}`);
      }
    }
  });
export type PolicyFile = z.infer<typeof PolicyFile>;
export type PolicyFileInput = z.input<typeof PolicyFile>;
