import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './scripts/closing-line-reporter.ts';

// "polyphony-source" makes our packages resolve to their TypeScript, so that tests need no build; the rest are Vite's own.
const conditions = ['polyphony-source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.long.test.ts', '**/test/agents/**'],
    globalSetup: ['scripts/bundle-for-tests.ts'],
    pool: 'forks',
    // One more than the two cores of a small machine: tests wait for other processes a third of their time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What comes is not late because a machine is busy; a second is not enough there.
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', new ClosingLineReporter()],
  },
});
