/** A line is broken when it reaches this length, before the next character. */
export const longestLine: number = 64 * 1024;
export const newline = 0x0a;
export const carriageReturn = 0x0d;

/**
 * Where the line after the one that begins at a place begins; where the bytes end, if none does. `found` is the place of
 * the next newline, or -1.
 */
export function nextLine(bytes: Buffer, at: number, found: number = bytes.indexOf(newline, at)): number {
  const end = found < 0 ? bytes.length : found + 1;
  if ((found < 0 ? end : found) - at <= longestLine) return end;
  let next = at + longestLine;
  while (next < at + longestLine + 3 && isContinuation(bytes[next] ?? 0)) next++;
  return bytes[next] === newline ? next + 1 : next;
}

/** A byte that does not begin a character of UTF-8. */
export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Where the kept lines begin, by their number; the last one is still open. */
export class LineStarts {
  #ring = new Float64Array(16);
  /** Number of the oldest line kept. */
  first: number;
  /** Number of the line that the next byte belongs to. */
  last: number;

  constructor(line = 0, start = 0) {
    this.first = line;
    this.last = line;
    this.#ring[line & (this.#ring.length - 1)] = start;
  }

  at(line: number): number {
    return this.#ring[line & (this.#ring.length - 1)] ?? 0;
  }

  push(start: number): void {
    if (this.last - this.first + 1 === this.#ring.length) {
      const larger = new Float64Array(this.#ring.length * 2);
      for (let line = this.first; line <= this.last; line++)
        larger[line & (larger.length - 1)] = this.at(line);
      this.#ring = larger;
    }
    this.last++;
    this.#ring[this.last & (this.#ring.length - 1)] = start;
  }

  dropBefore(line: number): void {
    this.first = Math.max(this.first, Math.min(line, this.last));
  }

  /** The first line that begins at or after an offset; the open one if none does. */
  firstFrom(offset: number): number {
    const line = this.lineAt(offset);
    return this.at(line) >= offset ? line : Math.min(line + 1, this.last);
  }

  /** The line that an offset lies in. */
  lineAt(offset: number): number {
    let low = this.first;
    for (let high = this.last; low < high; ) {
      const middle = Math.ceil((low + high) / 2);
      if (this.at(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
