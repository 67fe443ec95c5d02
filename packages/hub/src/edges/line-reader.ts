const newline = 0x0a;

/** Cuts bytes into lines as they come. A line has its newline, and is copied only where it came in several pieces. */
export class LineReader {
  readonly #take: (line: Buffer) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(take: (line: Buffer) => void) {
    this.#take = take;
  }

  /** Answers how much there is of a line whose end has not come yet. */
  push(chunk: Buffer): number {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end + 1);
      start = end + 1;
      if (this.#bytes === 0) this.#take(piece);
      else this.#take(this.#whole(piece));
    }
    if (start < chunk.length) {
      this.#parts.push(start === 0 ? chunk : chunk.subarray(start));
      this.#bytes += chunk.length - start;
    }
    return this.#bytes;
  }

  #whole(last: Buffer): Buffer {
    const line = Buffer.concat([...this.#parts, last], this.#bytes + last.length);
    this.#parts = [];
    this.#bytes = 0;
    return line;
  }
}
