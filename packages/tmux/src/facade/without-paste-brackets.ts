const bracketAtEnd = /(?:\u001b\[|\u009b)20[01]~$/;
const longest = 6;

/**
 * A text without the sequences that open and close a bracketed paste, also those that appear only where another is
 * taken out: inside the brackets of a paste it stays text, and nothing of it is typed.
 *
 * @example withoutPasteBrackets('one\u001b[20\u001b[201~1~two') // 'onetwo'
 */
export function withoutPasteBrackets(text: string): string {
  const kept: string[] = [];
  for (const character of text) {
    kept.push(character);
    if (character !== '~') continue;
    const [bracket = ''] = bracketAtEnd.exec(kept.slice(-longest).join('')) ?? [];
    kept.length -= bracket.length;
  }
  return kept.join('');
}
