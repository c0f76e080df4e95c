import { readFileSync } from 'node:fs';
import type { Command } from './command.ts';

export const versionCommand: Command = {
  name: 'version',
  summary: 'the version of turnwise, and of the Node it runs on',
  options: { json: { type: 'boolean', help: 'print both as JSON' } },
  examples: ['turnwise version', 'turnwise --version'],
  async run(values, _positionals, io) {
    const node = process.versions.node;
    io.out(
      values.json
        ? `${JSON.stringify({ turnwise: version(), node })}\n`
        : `turnwise ${version()}, Node ${node}\n`,
    );
    return 0;
  },
};

/** As the package declares it. */
export const version = (): string =>
  (
    JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    }
  ).version;
