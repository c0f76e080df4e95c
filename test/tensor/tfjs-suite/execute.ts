/* Runs inside the bundle, after every test is declared: runs them in order and writes how each ended. */
import { writeFileSync } from 'node:fs';
import { type JasmineResult, type Spec, suite } from './in-bundle.ts';

const [, , backend, output] = process.argv;
const specs: Spec[] = [];
const env = suite.env!;

/** The name that a describe gets carries the backend: without it, the same test has the same name on each. */
const plain = (name: string): string => name.replaceAll(` ${backend} {}`, '');
const messages = ({ failedExpectations }: JasmineResult): string[] =>
  failedExpectations.map(({ message }) => message.split('\n').slice(0, 4).join('\n').slice(0, 600));

env.configure({ random: false, failSpecWithNoExpectations: false });
env.addReporter({
  specStarted: () => suite.refused.clear(),
  specDone(result) {
    specs.push({
      file: suite.fileOf.get(result.id)!,
      name: plain(result.fullName),
      status: result.status,
      refused: [...suite.refused],
      messages: messages(result),
    });
  },
  // A set-up that fails is no test's own failure: it counts as one more.
  suiteDone(result) {
    if (result.failedExpectations.length === 0) return;
    const own = { file: 'set-up', name: plain(result.fullName), refused: [], messages: messages(result) };
    specs.push({ ...own, status: 'failed' });
  },
});
// Some tests provoke rejections that nobody waits for; they are the tests' own business.
process.on('unhandledRejection', () => undefined);
await env.execute();
writeFileSync(output!, JSON.stringify(specs));
process.exit(0);
