import type { Audit } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { failure } from '../schema/error.ts';
import { type Evaluation, IntervalKind } from '../schema/evaluation.ts';
import type { AuditedEvaluation, RefusedEvaluation } from '../schema/evaluation-result.ts';
import { number, refuseIdle, text, whole } from './arguments.ts';
import { evaluationText, unsaid, verdictText } from './audit-text.ts';
import { type Command, type Io, jsonOption, seedOption, type Values } from './command.ts';
import { evaluateSeveral } from './evaluate-several.ts';
import { gated, gateOptions, gateRule } from './gate.ts';
import { auditNamed, exitCodeOf, targetOptions, tellReplicates } from './target.ts';

const LEAST_REPLICATES = 100;
/** Some minutes on a thousand tasks; the error of a quantile from so many is below that of any interval. */
const MOST_REPLICATES = 1_000_000;

export const evaluateCommand: Command = {
  name: 'evaluate',
  summary: 'off-policy value of a target, all estimators side by side, under the verdict of the audit',
  options: {
    ...targetOptions,
    target: {
      ...targetOptions.target!,
      multiple: true,
      help: 'a policy with recorded scores, or a policy file; several are compared with simultaneous intervals',
    },
    interval: {
      type: 'string',
      value: 'KIND',
      help: `of one target: ${IntervalKind.options.join(', ')}; absent: cr1-t`,
    },
    'max-weight': {
      type: 'string',
      value: 'W',
      help: 'limit of the weight of an episode, for hoeffding and empirical-bernstein',
    },
    estimator: { type: 'string', value: 'NAME', help: 'of several targets; absent: "WPDIS carried"' },
    replicates: {
      type: 'string',
      value: 'N',
      help: `of a bootstrap, ${LEAST_REPLICATES} to ${MOST_REPLICATES.toLocaleString('en')}; absent: 2000`,
    },
    seed: { ...seedOption, help: 'seed of a bootstrap' },
    ...gateOptions,
    json: jsonOption,
  },
  examples: [
    'turnwise evaluate --store runs.duckdb --target candidate.json',
    'turnwise evaluate --store runs.duckdb --target candidate --require weak --interval bootstrap-t --json',
    'turnwise evaluate --store runs.duckdb --target a.json --target b.json',
    'turnwise evaluate --store runs.duckdb --target a.json --target b.json --require-better',
  ],
  async run(values, _positionals, io) {
    const targets = values.target as readonly string[];
    const config = intervalConfig(values);
    if (targets.length > 1) return evaluateSeveral(targets, values, config, io);
    refuseIdleOfOne(values, config.interval!);
    tellReplicates(config, io);
    return evaluateOne({ ...values, target: targets[0] }, config, io);
  },
};

/** Flags that would change nothing of one target with this interval. */
function refuseIdleOfOne(values: Values, interval: IntervalKind): void {
  refuseIdle(values, 'estimator', 'is for several targets: of one, all are shown', 'Leave it out.');
  if (!interval.startsWith('bootstrap-'))
    refuseIdle(
      values,
      'replicates',
      `is of a bootstrap, and --interval is ${interval}`,
      'Add --interval bootstrap-t, for instance.',
    );
  if (interval !== 'hoeffding' && interval !== 'empirical-bernstein')
    refuseIdle(
      values,
      'max-weight',
      `is for hoeffding and empirical-bernstein, and --interval is ${interval}`,
      'Add --interval empirical-bernstein, for instance.',
    );
}

async function evaluateOne(values: Values, config: Partial<AuditConfig>, io: Io): Promise<0 | 3> {
  const rule = gateRule(values);
  const result = await auditNamed(values, config);
  const { evaluation, verdict, reasons } = result;
  if (evaluation === null) {
    if (values.json) {
      io.out(`${JSON.stringify(refusedRecord(result), null, 2)}\n`);
      return 3;
    }
    throw failure({
      subject: `target "${result.target}"`,
      wrong: [...reasons, ...result.warnings.filter((w) => w.code === 'target-not-looked-at')]
        .map((r) => r.message)
        .join('; '),
      fix: result.next.join(' '),
      exitCode: 3,
    });
  }
  if (values.json) {
    const record: AuditedEvaluation = { verdict, reasons, ...evaluation };
    io.out(`${JSON.stringify(record, null, 2)}\n`);
  } else {
    io.out(`${verdictText(result)}\n${evaluationText(result)}`);
    if (config.interval !== 'cr1-t') io.out(intervalText(evaluation));
    for (const { message } of unsaid(result)) io.err(`warning: ${message}\n`);
  }
  const code = gated(result, rule, values, io);
  return code === 0 ? exitCodeOf(result, values) : code;
}

const refusedRecord = ({ target, trainedOn, reasons, next, warnings }: Audit): RefusedEvaluation => ({
  verdict: 'refused',
  reasons,
  next,
  target,
  trainedOn,
  behaviour: null,
  difference: null,
  estimates: [],
  bounds: null,
  warnings,
});

/** How the intervals were made, once for each way. */
function intervalText({ behaviour, estimates }: Evaluation): string {
  const methods = [behaviour, ...estimates].flatMap(({ interval }) => (interval ? [interval.method] : []));
  return [...new Set(methods)].map((method) => `  intervals: ${method}\n`).join('');
}

/** What `--interval`, `--max-weight`, `--replicates` and `--seed` say. */
function intervalConfig(values: Values): Partial<AuditConfig> {
  const given = text(values, 'interval');
  const interval = IntervalKind.options.find((kind) => kind === (given ?? 'cr1-t'));
  if (interval === undefined)
    throw failure({
      subject: '--interval',
      wrong: 'is none',
      got: `"${given}"`,
      expected: `one of ${IntervalKind.options.join(', ')}`,
      exitCode: 2,
    });
  const maxWeight = number(values, 'max-weight', 'a number above 0');
  if (maxWeight !== undefined && !(maxWeight > 0))
    throw failure({
      subject: '--max-weight',
      wrong: 'is out of range',
      got: maxWeight,
      expected: 'a number above 0',
      exitCode: 2,
    });
  const replicates = whole(values, 'replicates', LEAST_REPLICATES, MOST_REPLICATES);
  return {
    interval,
    seed: whole(values, 'seed')!,
    ...(maxWeight === undefined ? {} : { maxWeight }),
    ...(replicates === undefined ? {} : { replicates }),
  };
}
