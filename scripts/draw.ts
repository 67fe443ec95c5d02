// Draws the modules of packages/*/src, folder by folder, into ARCHITECTURE.md; with --check, fails if stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruiseRepository, root } from './cruise.ts';

const page = join(root, 'ARCHITECTURE.md');
const start = '<!-- drawing: written by `npm run draw` -->';
const end = '<!-- end of drawing -->';

/** `tmux/operations` for a file in a folder of src, `tmux/escape` for a file of src itself. */
function boxOf(file: string): string | undefined {
  const [, name, rest] = /^packages\/([^/]+)\/src\/(.+)\.tsx?$/.exec(file) ?? [];
  if (name === undefined || rest === undefined || rest.endsWith('.test')) return undefined;
  if (rest === 'index') return undefined; // It re-exports everything, so its arrows would say nothing.
  return `${name}/${rest.split('/')[0]}`;
}

async function drawing(): Promise<string> {
  const boxes = new Set<string>();
  const arrows = new Set<string>();
  const { modules } = await cruiseRepository();
  for (const { source, dependencies } of modules) {
    const from = boxOf(source);
    if (from === undefined) continue;
    boxes.add(from);
    for (const dependency of dependencies) {
      const to = boxOf(dependency.resolved);
      if (to !== undefined && to !== from) arrows.add(`  ${from} --> ${to}`);
    }
  }
  const packages = Object.groupBy([...boxes].sort(), (box) => box.split('/')[0] ?? '');
  const groups = Object.entries(packages).flatMap(([name, members = []]) => [
    `  subgraph ${name}`,
    ...members.map((box) => `    ${box}[${box.slice(name.length + 1)}]`),
    '  end',
  ]);
  return ['```mermaid', 'flowchart LR', ...groups, ...[...arrows].sort(), '```'].join('\n');
}

try {
  const text = readFileSync(page, 'utf8');
  const [before, rest] = text.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`ARCHITECTURE.md lacks "${start}" or "${end}".`);
  }
  const fresh = `${before}${start}\n${await drawing()}\n${end}${after}`;
  if (fresh !== text && process.argv.includes('--check')) {
    throw new Error('the drawing in ARCHITECTURE.md is stale: run `npm run draw`.');
  }
  if (fresh !== text) writeFileSync(page, fresh);
} catch (error) {
  console.error(`draw: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
