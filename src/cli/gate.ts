import { type Gated, type GateRule, gate } from '../audit/gate.ts';
import { inline } from '../report/plain.ts';
import type { Audit } from '../schema/audit.ts';
import { failure } from '../schema/error.ts';
import type { PolicyComparison } from '../schema/policy-comparison.ts';
import { number } from './arguments.ts';
import type { Io, Option, Values } from './command.ts';
import { requiredVerdict } from './target.ts';

/** Flags that look at the difference from the logging policy; without them only at the verdict. */
export const gateOptions: Readonly<Record<string, Option>> = {
  'require-better': {
    type: 'string',
    value: 'MARGIN',
    absent: '0',
    help: 'exit 3 unless supported and the lower end of the interval of target − logging policy is above MARGIN',
  },
  'require-not-worse': {
    type: 'string',
    value: 'MARGIN',
    help: 'exit 3 unless supported and the lower end of the interval of target − logging policy is at least −MARGIN',
  },
};

/** The rule that the flags give; null: none. @throws a usage error */
export function gateRule(values: Values): GateRule | null {
  const [better, notWorse] = ['require-better', 'require-not-worse'].map((name) => {
    const margin = number(values, name, 'a margin of at least 0');
    if (margin === undefined || margin >= 0) return margin;
    throw failure({
      subject: `--${name}`,
      wrong: 'is out of range',
      got: margin,
      expected: 'a margin of at least 0',
      exitCode: 2,
    });
  });
  if (better === undefined && notWorse === undefined) return null;
  if (requiredVerdict(values) === 'weak')
    throw failure({
      subject: '--require weak',
      wrong: 'contradicts the gate on the difference: intervals of a weak verdict claim no coverage',
      fix: 'Leave it out.',
      exitCode: 2,
    });
  return { better, notWorse };
}

/** Says whether the gate passes: with the result, or beside it where that is JSON. */
export function gated(
  result: Audit | PolicyComparison,
  rule: GateRule | null,
  values: Values,
  io: Io,
): 0 | 3 {
  if (rule === null) return 0;
  const found = gate(result, rule);
  if (values.json) io.err(gateText(found));
  else io.out(`\n${gateText(found)}`);
  return found.passed ? 0 : 3;
}

const gateText = ({ passed, reason }: Gated): string =>
  `gate ${passed ? 'passed' : 'not passed'}: ${inline(reason)}\n`;
