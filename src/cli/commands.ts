import type { Command } from './command.ts';

/** Every command, in the order of `--help`; loaded when it is asked for, so that each starts quickly. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./demo.ts')).demoCommand,
  ingest: async () => (await import('./ingest.ts')).ingestCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  describe: async () => (await import('./describe.ts')).describeCommand,
  compare: async () => (await import('./compare.ts')).compareCommand,
  credit: async () => (await import('./credit.ts')).creditCommand,
  audit: async () => (await import('./audit.ts')).auditCommand,
  evaluate: async () => (await import('./evaluate.ts')).evaluateCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  import: async () => (await import('./import.ts')).importCommand,
  simulate: async () => (await import('./simulate.ts')).simulateCommand,
  devices: async () => (await import('./devices.ts')).devicesCommand,
  schema: async () => (await import('./schema.ts')).schemaCommand,
  version: async () => (await import('./version.ts')).versionCommand,
};
