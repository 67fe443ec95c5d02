/**
 * Cuts bytes into lines. Lines are latin1 strings, one character a byte, so that nothing is decoded before it is
 * known whether it is text (`decode`) or the bytes of a pane.
 */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest: string[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  feed(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    let start = 0;
    let end = text.indexOf('\n');
    if (end >= 0 && this.#rest.length > 0) {
      this.#onLine(this.#rest.join('') + text.slice(0, end));
      this.#rest = [];
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    for (; end >= 0; end = text.indexOf('\n', start)) {
      this.#onLine(text.slice(start, end));
      start = end + 1;
    }
    if (start < text.length) this.#rest.push(text.slice(start));
  }
}

/** The text a latin1 string of UTF-8 bytes stands for. */
export function decode(bytes: string): string {
  // ASCII needs no decoding.
  return /^[\x00-\x7f]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}
