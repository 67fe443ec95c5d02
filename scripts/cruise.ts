import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';

export const root: string = join(import.meta.dirname, '..');

/**
 * Reads every import of what is published, and refuses to go on with a scan that overlooked one. Tests, examples and
 * benchmarks may import anything; they also hold `using` declarations, which the scanner cannot read.
 */
export async function cruiseRepository(): Promise<ICruiseResult> {
  process.chdir(root);
  const { output } = await cruise(
    globSync('packages/*/src'),
    await extractOptions('./.dependency-cruiser.cjs'),
  );
  if (typeof output === 'string') throw new Error(`dependency-cruiser answered text: ${output}`);
  refuseBlindSpots(output);
  return output;
}

/** Without a parser that fits, dependency-cruiser skips files or type imports and still reports success. */
function refuseBlindSpots({ modules }: ICruiseResult): void {
  const seen = new Map(
    modules.map(({ source, dependencies }) => [source, new Set(dependencies.map(({ module }) => module))]),
  );
  const sources = globSync('packages/*/src/**/*.{ts,tsx}').filter((file) => !file.endsWith('.test.ts'));
  if (sources.length === 0) throw new Error('there is no source file under packages/*/src.');
  for (const source of sources) {
    const imports = seen.get(source);
    if (imports === undefined) throw new Error(`dependency-cruiser did not scan ${source}.`);
    const written = readFileSync(source, 'utf8').matchAll(/^(?:import|export|\}).* from '(\.[^']+)';$/gm);
    for (const [line, path = ''] of written) {
      if (!imports.has(path)) throw new Error(`dependency-cruiser overlooked \`${line}\` in ${source}.`);
    }
  }
}
