import { failure } from '../schema/error.ts';
import type { AuditedEvaluation } from '../schema/evaluation-result.ts';
import { evaluationText, verdictText } from './audit-text.ts';
import { type Command, jsonOption } from './command.ts';
import { auditNamed, exitCodeOf, targetOptions } from './target.ts';

export const evaluateCommand: Command = {
  name: 'evaluate',
  summary: 'off-policy value of a target, all estimators side by side, under the verdict of the audit',
  options: { ...targetOptions, json: jsonOption },
  examples: [
    'turnwise evaluate --store runs.duckdb --target candidate.json',
    'turnwise evaluate --store runs.duckdb --target candidate --require weak --json',
  ],
  async run(values, _positionals, io) {
    const result = await auditNamed(values);
    const { evaluation, verdict, reasons } = result;
    if (evaluation === null)
      throw failure({
        subject: `target "${result.target}"`,
        wrong: reasons.map((r) => r.message).join('; '),
        fix: result.next.join(' '),
        exitCode: 3,
      });
    if (values.json) {
      const record: AuditedEvaluation = { verdict, reasons, ...evaluation };
      io.out(`${JSON.stringify(record, null, 2)}\n`);
    } else {
      io.out(`${verdictText(result)}\n${evaluationText(result)}`);
      for (const { message } of result.warnings) io.err(`warning: ${message}\n`);
    }
    return exitCodeOf(result, values);
  },
};
