/** What an agent should have to read at once, in characters. */
const mostText = 48_000;

/** Keeps the beginning, which says what it is, and the end, where the news stands, and says what was left out between. */
export function shorten(text: string, most: number = mostText): string {
  if (text.length <= most) return text;
  const head = text.slice(0, text.indexOf('\n') + 1 || 200).slice(0, 200);
  const tail = text.slice(text.length - (most - head.length));
  const left = text.length - head.length - tail.length;
  return `${head}(${left} characters were left out here: ask for fewer lines, or for a pattern)\n${tail}`;
}
