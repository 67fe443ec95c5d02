/** The words of a command of tmux, as tmux reads them: flags first, also several in one word, then the rest. */
export interface Words {
  has(flag: string): boolean;
  count(flag: string): number;
  last(
    flag: string,
  ): { readonly value: string; readonly at: number; write(value: string): string } | undefined;
  readonly rest: readonly string[];
}

/** A letter that means itself, or some in single quotes, or one quote: all that the library writes a word with. */
const piece = /[\w./:,@-]|'[^'\r\n]*'|\\'/;
const quotedWord = new RegExp(`(?:${piece.source})+`, 'g');
const quotedLine = new RegExp(`^(?:(?:${piece.source})+(?: |$))+$`);

/** The words of a command that is itself one word, as the library writes it; undefined for any other way to write one. */
export function wordsOfLine(line: string): readonly string[] | undefined {
  if (!quotedLine.test(line)) return undefined;
  const words = line.match(quotedWord) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|\\'/g, (_, inside?: string) => inside ?? "'"));
}

interface Found {
  readonly flag: string;
  readonly value: string;
  /** Which word the value stands in, and what stands before it there. */
  readonly at: number;
  readonly before: string;
}

/** `takesValue` says which flags have a value: that follows in the same word or is the next one. */
export function flagsOf(args: readonly string[], takesValue: (flag: string) => boolean): Words {
  const found: Found[] = [];
  let at = 1;
  for (; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '--') {
      at += 1;
      break;
    }
    if (!/^-./.test(word)) break;
    const valued = [...word].findIndex((letter, place) => place > 0 && takesValue(letter));
    const letters = word.slice(1, valued < 0 ? undefined : valued);
    found.push(...[...letters].map((flag) => ({ flag, value: '', at, before: '' })));
    if (valued < 0) continue;
    const before = word.slice(0, valued + 1);
    const attached = word.slice(valued + 1);
    const flag = word.charAt(valued);
    if (attached !== '') found.push({ flag, value: attached, at, before });
    else found.push({ flag, value: args[++at] ?? '', at, before: '' });
  }
  const all = (flag: string): readonly Found[] => found.filter((one) => one.flag === flag);
  return {
    has: (flag) => all(flag).length > 0,
    count: (flag) => all(flag).length,
    last(flag) {
      const one = all(flag).at(-1);
      return one && { value: one.value, at: one.at, write: (value) => one.before + value };
    },
    rest: args.slice(at),
  };
}
