// Fails when an import breaks a rule of .dependency-cruiser.cjs.
import { cruiseRepository } from './cruise.ts';

try {
  const { summary } = await cruiseRepository();
  for (const { rule, from, to, cycle } of summary.violations) {
    const path = cycle === undefined ? [from, to] : [from, ...cycle.map((step) => step.name)];
    console.error(`${rule.name}: ${path.join(' → ')}`);
  }
  if (summary.violations.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(`check-arrows: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
