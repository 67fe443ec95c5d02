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

/** A line that matches: its number, from 0 in the bytes searched, and where it lies in them. */
export interface FoundLine {
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** Finds the lines that match, in their order, in bytes that begin where a line does. */
export type Finder = (bytes: Buffer) => FoundLine[];

export function createFinder(pattern: Pattern): Finder {
  const expression = expressionOf(pattern);
  const inPlain = literalFinder(pattern) ?? ((bytes) => findEach(bytes, expression));
  return (bytes) => (isPlain(bytes) ? inPlain(bytes) : findShown(bytes, expression));
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

/** In any bytes: each line is made readable first. */
function findShown(bytes: Buffer, expression: RegExp): FoundLine[] {
  const found: FoundLine[] = [];
  for (let from = 0, line = 0; from < bytes.length; line++) {
    const next = nextLine(bytes, from);
    const to = bytes[next - 1] === newline ? next - 1 : next;
    if (expression.test(plainLine(bytes.toString('utf8', from, to)))) found.push({ line, from, to });
    from = next;
  }
  return found;
}

/** In plain bytes, which become text all at once. */
function findEach(bytes: Buffer, expression: RegExp): FoundLine[] {
  const found: FoundLine[] = [];
  const text = bytes.toString('latin1');
  for (let from = 0, line = 0; from < bytes.length; line++) {
    const next = nextLine(bytes, from);
    const to = textEnd(bytes, from, next);
    if (expression.test(text.slice(from, to))) found.push({ line, from, to });
    from = next;
  }
  return found;
}

/** In plain bytes, which are searched as they are; undefined where a byte is not compared with a byte. */
function literalFinder({ pattern, literal, ignoreCase }: Pattern): Finder | undefined {
  const needle = Buffer.from(ignoreCase ? pattern.toLowerCase() : pattern);
  if (!literal || (ignoreCase && !isAscii(Buffer.from(pattern)))) return undefined;
  return (bytes) => {
    const found: FoundLine[] = [];
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
