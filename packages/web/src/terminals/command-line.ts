/** What only a shell understands. */
const shellWords = /[|&;<>()$`*?[\]~{}#=\\]/;
const words = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** A typed line as a program and its arguments; what needs a shell goes to one. Nothing typed is nothing said. */
export function commandLine(line: string): readonly string[] | undefined {
  const typed = line.trim();
  if (typed === '') return undefined;
  const unclosed = typed.replace(/"[^"]*"|'[^']*'/g, '').match(/["']/);
  const glued = /[^\s"']["']|["'][^\s"']/.test(typed.replace(/(^|\s)("[^"]*"|'[^']*')(?=\s|$)/g, '$1'));
  if (unclosed || glued || shellWords.test(typed)) return ['sh', '-c', typed];
  return [...typed.matchAll(words)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}
