/** What `patch` makes of a text with the part of a diff that is about one file. */
export function patched(text: string, diff: string, file: string): string {
  const part = diff.split(/^(?=--- )/m).find((one) => one.split('\n', 2)[1] === `+++ ${file}`) ?? '';
  const [, start = '0', count = '0'] = /^@@ -(\d+),(\d+) /m.exec(part) ?? [];
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const from = Number(count) === 0 ? Number(start) : Number(start) - 1;
  const made: string[] = [];
  let sign = '';
  for (const line of part.slice(part.indexOf('\n', part.indexOf('@@')) + 1).split(/(?<=\n)/)) {
    // "No newline at end of file" is said of the line before.
    if (line.startsWith('\\') && sign !== '-') made.push((made.pop() ?? '').replace(/\n$/, ''));
    sign = line[0] ?? '';
    if (sign === ' ' || sign === '+') made.push(line.slice(1));
  }
  return [...lines.slice(0, from), ...made, ...lines.slice(from + Number(count))].join('');
}
