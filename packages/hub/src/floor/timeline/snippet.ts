const around = 60;
const longest = 2 * around + 80;

/** What stands around the first of the words that is found; the beginning where accents hide them all. */
export function snippetOf(text: string, query: string): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  const lower = plain.toLowerCase();
  const places = query
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
    .filter((word) => word !== '')
    .map((word) => lower.indexOf(word))
    .filter((place) => place >= 0);
  const from = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - around);
  const cut = plain.slice(from, from + longest).toWellFormed();
  return `${from > 0 ? '…' : ''}${cut}${from + longest < plain.length ? '…' : ''}`;
}
