import { isAscii } from 'node:buffer';
import { HostError } from './host-error.ts';
import { carriageReturn, newline, nextLine } from './line-starts.ts';
import { plainLine } from './plain-view.ts';

/** What to look for in each line of output, as people read it. */
export interface Pattern {
  readonly pattern: string;
  /** The text itself, not a regular expression. */
  readonly literal?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
}

/** A line: its number, from 0 in the bytes searched, and where it lies in them. */
export interface Line {
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** The lines that match, found one by one, in bytes that begin where a line does; `isPlain` as in `PlainMarks`. */
export type Finder = (bytes: Buffer, isPlain: boolean, newestFirst: boolean) => Iterable<Line>;

export function createFinder(pattern: Pattern): Finder {
  const expression = expressionOf(pattern);
  const literal = literalFinder(pattern);
  return (bytes, isPlain, newestFirst) => {
    if (!isPlain) {
      const starts = startsOf(bytes, (from) => bytes.indexOf(newline, from));
      return matching(bytes, starts, newestFirst, (from, to) =>
        expression.test(plainLine(bytes.toString('utf8', from, to))),
      );
    }
    if (literal) return newestFirst ? literal(bytes).reverse() : literal(bytes);
    // Text is made all at once, since each call out of JavaScript costs as much as a line.
    const text = bytes.toString('latin1');
    const starts = startsOf(bytes, (from) => text.indexOf('\n', from));
    return matching(bytes, starts, newestFirst, (from, to) => expression.test(text.slice(from, to)));
  };
}

function* matching(
  bytes: Buffer,
  starts: readonly number[],
  newestFirst: boolean,
  isMatch: (from: number, to: number) => boolean,
): Generator<Line> {
  for (let i = 0; i < starts.length; i++) {
    const line = newestFirst ? starts.length - 1 - i : i;
    const from = starts[line] ?? 0;
    const to = textEnd(bytes, from, starts[line + 1] ?? bytes.length);
    if (isMatch(from, to)) yield { line, from, to };
  }
}

function startsOf(bytes: Buffer, findNewline: (from: number) => number): number[] {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at = nextLine(bytes, at, findNewline(at))) starts.push(at);
  return starts;
}

function expressionOf({ pattern, literal, ignoreCase }: Pattern): RegExp {
  const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : pattern;
  return new RegExp(source, ignoreCase ? 'iu' : 'u');
}

/** Throws when the pattern is no regular expression, and says why not. */
export function refuseInvalid(pattern: Pattern): void {
  try {
    expressionOf(pattern);
  } catch (cause) {
    const why = (cause as Error).message.split(': ').at(-1)?.toLowerCase();
    const message = `"${pattern.pattern}" is no regular expression: ${why}.`;
    throw new HostError('invalid_parameters', message, { pattern: pattern.pattern }, cause);
  }
}

/** Searches plain bytes as they are; undefined where a byte is not compared with a byte. */
function literalFinder({ pattern, literal, ignoreCase }: Pattern): ((bytes: Buffer) => Line[]) | undefined {
  const needle = Buffer.from(ignoreCase ? pattern.toLowerCase() : pattern);
  if (!literal || (ignoreCase && !isAscii(Buffer.from(pattern)))) return undefined;
  return (bytes) => {
    const found: Line[] = [];
    const searched = ignoreCase ? lowered(bytes) : bytes;
    let [from, line] = [0, 0];
    for (let hit = searched.indexOf(needle); hit >= 0; hit = searched.indexOf(needle, from)) {
      let next = nextLine(bytes, from);
      for (; next <= hit; line++) {
        from = next;
        next = nextLine(bytes, from);
      }
      const to = textEnd(bytes, from, next);
      if (hit + needle.length <= to) found.push({ line, from, to });
      from = next;
      line++;
    }
    return found;
  };
}

function textEnd(bytes: Buffer, from: number, next: number): number {
  let to = bytes[next - 1] === newline ? next - 1 : next;
  while (to > from && bytes[to - 1] === carriageReturn) to--;
  return to;
}

const highBits = 0x80808080;

/** A copy of ASCII in lower case, four bytes at a time. */
function lowered(bytes: Buffer): Buffer {
  const words = new Int32Array((bytes.length + 3) >> 2);
  const copy = Buffer.from(words.buffer, 0, bytes.length);
  copy.set(bytes);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    const capitals = (word + 0x3f3f3f3f) & ~(word + 0x25252525) & highBits;
    words[i] = word | (capitals >>> 2);
  }
  return copy;
}
