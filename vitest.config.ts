import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    maxWorkers: '100%',
    // For what hangs: no test is timed, and a busy machine may take many times as long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
