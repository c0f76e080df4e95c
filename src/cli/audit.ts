import { auditText, unsaid } from './audit-text.ts';
import { type Command, jsonOption } from './command.ts';
import { diagnosticsText } from './diagnostics-text.ts';
import { gated, gateOptions, gateRule } from './gate.ts';
import { auditNamed, exitCodeOf, targetOptions } from './target.ts';

export const auditCommand: Command = {
  name: 'audit',
  summary: 'do the logs cover a target well enough to say what it is worth: supported, weak or refused',
  options: {
    ...targetOptions,
    details: {
      type: 'boolean',
      help: 'coverage in detail: positivity, capped weights, overlap, calibration, tokens, where support ends',
    },
    ...gateOptions,
    json: jsonOption,
  },
  examples: [
    'turnwise audit --store runs.duckdb --target candidate.json',
    'turnwise audit --store runs.duckdb --target candidate.json --require-better',
    'turnwise audit --store runs.duckdb --target candidate.json --require-not-worse 0.02',
    'turnwise audit --store runs.duckdb --target candidate.json --range 0,1 --require weak --json',
    'turnwise audit --store runs.duckdb --target candidate.json --estimate-propensities --require weak --details',
  ],
  async run(values, _positionals, io) {
    const rule = gateRule(values);
    const result = await auditNamed(values);
    if (values.json) io.out(`${JSON.stringify(result, null, 2)}\n`);
    else {
      io.out(auditText(result));
      if (values.details) io.out(`\n${diagnosticsText(result.diagnostics)}`);
      for (const { message } of unsaid(result)) io.err(`warning: ${message}\n`);
    }
    const code = gated(result, rule, values, io);
    return code === 0 ? exitCodeOf(result, values) : code;
  },
};
