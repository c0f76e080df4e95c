/* What the two ends of the bundle share: jasmine's environment, the file each test is of, what was refused in it. */

/** A test as it ended. */
export interface Spec {
  readonly file: string;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'pending' | 'excluded';
  /** Refusals that the backend uttered during the test: `kernel Conv2D`, `type string`, `synchronous read`. */
  readonly refused: readonly string[];
  /** First lines of what failed. */
  readonly messages: readonly string[];
}

export interface JasmineResult {
  readonly id: string;
  readonly fullName: string;
  readonly status: Spec['status'];
  readonly failedExpectations: readonly { readonly message: string }[];
}

interface JasmineEnv {
  configure(options: Readonly<Record<string, unknown>>): void;
  addReporter(reporter: {
    specStarted?(): void;
    specDone?(result: JasmineResult): void;
    suiteDone?(result: JasmineResult): void;
  }): void;
  execute(): Promise<unknown>;
}

export const suite = {
  env: null as JasmineEnv | null,
  fileOf: new Map<string, string>(),
  refused: new Set<string>(),
  file: (): string => (globalThis as { suiteFile?: string }).suiteFile!,
};
