import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with `N passed, N failed` alone on a line, which any CI can read. */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      // A file that cannot be loaded, or whose hook throws, fails without a failed test of its own.
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
    }
    const skipped = count.skipped + count.pending;
    console.log(`${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  }
}
