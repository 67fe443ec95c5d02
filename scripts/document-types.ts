// Puts the words of each operation's parameter table into the built type declarations, so that editors show them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CatalogEntry, operations } from '../packages/tmux/dist/index.js';

const dist = join(import.meta.dirname, '..', 'packages/tmux/dist/operations');

for (const entry of operations.catalog()) {
  const file = join(dist, `${entry.kind.replaceAll('_', '-')}.d.ts`);
  const before = readFileSync(file, 'utf8');
  const after = documented(entry, before);
  if (after !== before) writeFileSync(file, after);
}

function documented({ params, summary, command }: CatalogEntry, declarations: string): string {
  const docs = new Map(params.map(({ name, flag, doc, since }) => [name, sentence(flag, doc, since)]));
  let used = 0;
  const lines = declarations.split('\n').flatMap((line, index, all) => {
    if (all[index - 1]?.trimStart().startsWith('/**')) return [line];
    if (line.startsWith('export declare const')) return [`/** ${summary} (\`${command}\`) */`, line];
    const [, name = ''] = /^ {4}readonly (\w+)\??:/.exec(line) ?? [];
    const doc = docs.get(name);
    if (doc === undefined) return [line];
    used++;
    return [`    /** ${doc} */`, line];
  });
  if (used === 0 && params.length > 0 && !declarations.includes('/**')) {
    throw new Error(`None of the parameters of ${command} was found in its declarations.`);
  }
  return lines.join('\n');
}

function sentence(flag: string, doc: string, since: string | null): string {
  const text = `${doc.charAt(0).toUpperCase()}${doc.slice(1)}`.replaceAll('*/', '* /');
  return `${text}${flag ? ` (\`${flag}\`)` : ''}${since ? `, since tmux ${since}` : ''}.`;
}
