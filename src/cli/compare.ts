import { compare } from '../inspect/compare.ts';
import { policyPair } from '../inspect/compare-selector.ts';
import { warningLine } from '../report/warning-line.ts';
import { OutcomeName } from '../schema/compare.ts';
import { failure } from '../schema/error.ts';
import { number, whole } from './arguments.ts';
import { type Command, jsonOption, seedOption, storeOptions, type Values } from './command.ts';
import { comparisonText } from './compare-text.ts';
import { openGiven } from './open-store.ts';

export const compareCommand: Command = {
  name: 'compare',
  summary: 'two logged policies on the same tasks: which is better, by how much, with what power',
  options: {
    ...storeOptions,
    policies: {
      type: 'string',
      value: 'A,B',
      required: true,
      multiple: true,
      help: 'the two: a policy name, name@version or source:FILE; once with a comma, or twice',
    },
    outcome: {
      type: 'string',
      value: 'NAME',
      multiple: true,
      help: `${OutcomeName.options.join(', ')}; the first is the primary one; absent: all that the logs hold`,
    },
    difference: {
      type: 'string',
      value: 'D',
      help: 'the difference in the primary outcome one wants to see; absent: 0.05 of success, else 5 % of the mean of A',
    },
    seed: { ...seedOption, help: 'seed of the sign-flip test, the only thing random' },
    json: jsonOption,
  },
  examples: [
    'turnwise compare --store runs.duckdb --policies base,tuned',
    'turnwise compare --store runs.duckdb --policies agent@v1,agent@v2 --outcome success --difference 0.03',
    'turnwise compare --store runs.duckdb --policies source:monday.jsonl,source:friday.jsonl --json',
  ],
  async run(values, _positionals, io) {
    const outcomes = outcomesOf(values);
    const difference = positive(values, 'difference');
    const seed = whole(values, 'seed')!;
    const store = await openGiven(values, 'read');
    try {
      const [a, b] = await policyPair(store, values.policies as readonly string[]);
      const result = await compare(store, a, b, { outcomes, difference, seed });
      if (values.json) io.out(`${JSON.stringify(result, null, 2)}\n`);
      else {
        io.out(comparisonText(result));
        for (const w of result.warnings) io.err(`warning: ${warningLine(w)}\n`);
      }
      return 0;
    } finally {
      store.close();
    }
  },
};

function outcomesOf(values: Values): OutcomeName[] {
  const given = ((values.outcome as readonly string[] | undefined) ?? []).flatMap((o) => o.split(','));
  return given.map((name) => {
    const known = OutcomeName.safeParse(name.trim());
    if (known.success) return known.data;
    throw failure({
      subject: '--outcome',
      wrong: 'is no outcome',
      got: `"${name}"`,
      expected: `one of ${OutcomeName.options.join(', ')}`,
      exitCode: 2,
    });
  });
}

function positive(values: Values, name: string): number | null {
  const n = number(values, name, 'a number above 0') ?? null;
  if (n !== null && !(n > 0))
    throw failure({
      subject: `--${name}`,
      wrong: 'is out of range',
      got: n,
      expected: 'a number above 0',
      exitCode: 2,
    });
  return n;
}
