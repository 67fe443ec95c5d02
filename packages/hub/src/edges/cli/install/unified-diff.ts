const context = 3;

/** What `patch` takes, for a change that lies in one place; undefined stands for a file that is not there. */
export function unifiedDiff(file: string, before: string | undefined, after: string | undefined): string {
  const old = linesOf(before);
  const made = linesOf(after);
  const shorter = Math.min(old.length, made.length);
  let same = 0;
  while (same < shorter && old[same] === made[same]) same++;
  let tail = 0;
  while (tail < shorter - same && old.at(-1 - tail) === made.at(-1 - tail)) tail++;
  const from = Math.max(0, same - context);
  const behind = Math.min(tail, context);
  const hunk = [
    ...marked(' ', old.slice(from, same)),
    ...marked('-', old.slice(same, old.length - tail)),
    ...marked('+', made.slice(same, made.length - tail)),
    ...marked(' ', old.slice(old.length - tail, old.length - tail + behind)),
  ];
  const range = (all: readonly string[]): string => {
    const count = all.length - tail + behind - from;
    return `${count === 0 ? from : from + 1},${count}`;
  };
  const name = (text: string | undefined): string => (text === undefined ? '/dev/null' : file);
  return `--- ${name(before)}\n+++ ${name(after)}\n@@ -${range(old)} +${range(made)} @@\n${hunk.join('')}`;
}

/** Each with its line break. */
function linesOf(text = ''): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function marked(sign: string, lines: readonly string[]): readonly string[] {
  return lines.map(
    (line) => `${sign}${line}${line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`,
  );
}
