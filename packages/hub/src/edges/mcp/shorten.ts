/** What an agent should have to read at once, in characters. */
const mostText = 48_000;
/** How much of that is its beginning: some lines about what follows. */
const mostHead = 300;

export const isShort = (text: string): boolean => text.length <= mostText;

/**
 * Keeps the beginning, which says what it is, and the end, where the news stands, and says what was left out between.
 * A line that is cut shows that it is one: nothing a program prints may look as if we said it.
 */
export function shorten(text: string, most: number = mostText): string {
  if (text.length <= most) return text;
  const head = text.slice(0, text.lastIndexOf('\n', Math.min(mostHead, most / 2)) + 1 || 200);
  const end = text.slice(text.length - (most - head.length));
  const line = end.indexOf('\n') + 1;
  const whole = line > 0 && line < end.length / 2;
  const tail = whole ? end.slice(line) : end;
  const left = text.length - head.length - tail.length;
  const note = `(${left} characters were left out here: ask for fewer lines, or for a pattern)\n`;
  return `${head}${note}${whole ? '' : '…| '}${tail}`;
}
