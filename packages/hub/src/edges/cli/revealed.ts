/** Whatever a terminal would obey, turn around or not show at all. */
const unshown = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;
const plainWord = /^[\w@%+=:,./~-]+$/;

/** A text in quotes, whole, with every character that would hide something written out. */
export function revealed(text: string): string {
  return revealedLine(JSON.stringify(text));
}

/** A line as it may stand in a terminal, with every character that would hide something written out. */
export function revealedLine(text: string): string {
  return text.replace(unshown, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

/** The same of a text of several lines. */
export function revealedLines(text: string): string {
  return text.split('\n').map(revealedLine).join('\n');
}

/** Words as they are told apart, each whole. */
export function revealedWords(words: readonly string[]): string {
  return words.map((word) => (plainWord.test(word) ? word : revealed(word))).join(' ');
}
