import { isAscii } from 'node:buffer';
import { HostError } from './host-error.ts';
import { newline, nextLine } from './line-starts.ts';
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

/** The lines that match in bytes that begin where a line does, found one by one. */
export type Finder = (bytes: Buffer, newestFirst: boolean) => Iterable<Line>;

export function createFinder(pattern: Pattern): Finder {
  const expression = expressionOf(pattern);
  const literal = literalFinder(pattern);
  return (bytes, newestFirst) => {
    if (!isPlain(bytes)) {
      const textOf = ({ from, to }: Line): string => plainLine(bytes.toString('utf8', from, to));
      return matching(linesOf(bytes), newestFirst, (line) => expression.test(textOf(line)));
    }
    if (literal) return matching(literal(bytes), newestFirst, () => true);
    const text = bytes.toString('latin1');
    return matching(linesOf(bytes), newestFirst, ({ from, to }) => expression.test(text.slice(from, to)));
  };
}

function* matching(
  lines: readonly Line[],
  newestFirst: boolean,
  isMatch: (line: Line) => boolean,
): Generator<Line> {
  for (let i = 0; i < lines.length; i++) {
    const line = lines[newestFirst ? lines.length - 1 - i : i] as Line;
    if (isMatch(line)) yield line;
  }
}

function linesOf(bytes: Buffer): Line[] {
  const lines: Line[] = [];
  for (let from = 0; from < bytes.length; ) {
    const next = nextLine(bytes, from);
    lines.push({ line: lines.length, from, to: textEnd(bytes, from, next) });
    from = next;
  }
  return lines;
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

const carriageReturn = 0x0d;
const highBits = 0x80808080;

/** Whether the bytes are what people read: ASCII without control characters, but for tabs and the ends of lines. */
function isPlain(bytes: Buffer): boolean {
  if (!isAscii(bytes)) return false;
  const head = -bytes.byteOffset & 3;
  if (bytes.length < head) return isPlainBetween(bytes, 0, bytes.length);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2);
  if (!isPlainBetween(bytes, 0, head)) return false;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    // Sets the high bit of a byte below space, and of DEL; now and then of its neighbour too.
    const suspects = ((word - 0x20202020) | (word + 0x01010101)) & highBits;
    if (suspects !== 0 && !isPlainBetween(bytes, head + i * 4, head + i * 4 + 4)) return false;
  }
  return isPlainBetween(bytes, head + words.length * 4, bytes.length);
}

function isPlainBetween(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if ((byte >= 0x20 && byte !== 0x7f) || byte === newline || byte === tab) continue;
    const after = bytes[at + 1] ?? newline;
    if (byte !== carriageReturn || (after !== newline && after !== carriageReturn)) return false;
  }
  return true;
}

const tab = 0x09;

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
