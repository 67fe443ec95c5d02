import type { PaneLine } from '@polyphony/protocol';

/** Output as the host answers it. */
export interface OutputPage {
  readonly bytes: Uint8Array;
  /** Absolute offset of its first byte, and number of its first line, from 0. */
  readonly from: number;
  readonly firstLine: number;
  /** Offsets at which a line begins because the one before grew too long. */
  readonly softBreaks: readonly number[];
}

/**
 * The lines of a page as a person would read them. A line that was broken for its length, and written over in what
 * follows, is left out with its number: of a progress bar there is one line, however long it ran.
 */
export function plainLines({ bytes, from, firstLine, softBreaks }: OutputPage): readonly PaneLine[] {
  const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const breaks = softBreaks.map((offset) => offset - from);
  const lines: PaneLine[] = [];
  let isBroken = false;
  for (let at = 0, n = firstLine + 1; at < page.length; n++) {
    const newline = page.indexOf(0x0a, at);
    const soft = breaks.find((offset) => offset > at) ?? page.length;
    const end = newline < 0 || soft <= newline ? soft : newline;
    if (isBroken && page.subarray(at - 1, end - 1).includes('\r')) lines.pop();
    lines.push({ n, text: plainLine(page.toString('utf8', at, end)) });
    isBroken = end !== newline;
    at = isBroken ? end : end + 1;
  }
  return lines;
}

/**
 * What a person would read of one line of output: no escapes, and what stands there after everything that was written
 * over, erased and moved within the line. Where the cursor left the line there is a space.
 */
export function plainLine(text: string): string {
  if (text.search(leftovers) < 0) return text;
  const line = text.replace(stringSequences, '').replace(/\r$/, '');
  if (!edits.test(line)) return line.replace(sequences, '').replace(leftovers, '');
  const edited = new EditedLine();
  for (const [piece, parameters, final] of line.matchAll(pieces)) {
    if (final !== undefined) edited.edit(final, parameters ?? '');
    else if (piece === '\r' || piece === '\b') edited.edit(piece === '\r' ? 'G' : 'D', '1');
    else if (!/^[\x1b\x9b]/.test(piece)) edited.write(piece.replace(leftovers, ''));
  }
  return edited.text;
}

/** One row of a terminal, a character a cell. */
class EditedLine {
  readonly #cells: string[] = [];
  #at = 0;

  get text(): string {
    return this.#cells.join('');
  }

  write(text: string): void {
    for (const character of text) {
      while (this.#cells.length < this.#at) this.#cells.push(' ');
      this.#cells[this.#at++] = character;
    }
  }

  /** What a control sequence does within a line; one that leaves it goes on behind a space. */
  edit(final: string, parameters: string): void {
    const count = Math.min(Number.parseInt(parameters, 10) || 1, widest);
    const erase = (from: number, to: number): void => {
      if (to >= this.#cells.length) this.#cells.length = Math.min(this.#cells.length, from);
      else this.#cells.fill(' ', from, to);
    };
    switch (final) {
      case 'C':
        this.#at = Math.min(this.#at + count, widest);
        return;
      case 'D':
        this.#at = Math.max(0, this.#at - count);
        return;
      case 'G':
      case '`':
        this.#at = count - 1;
        return;
      case 'J':
      case 'K':
        erase(/^[123]/.test(parameters) ? 0 : this.#at, parameters === '1' ? this.#at + 1 : all);
        return;
      case 'X':
        erase(this.#at, this.#at + count);
        return;
      case 'P':
        this.#cells.splice(this.#at, count);
        return;
      case '@':
        if (this.#at < this.#cells.length && this.#cells.length < widest)
          this.#cells.splice(this.#at, 0, ...' '.repeat(count));
        return;
      default:
        if (!jumps.has(final)) return;
        this.#at = this.#cells.length;
        if (this.#at > 0 && this.#cells.at(-1) !== ' ') this.write(' ');
    }
  }
}

/** Titles, links and the like: everything up to their end, or to the end of the line when that is missing. */
const stringSequences = /(?:\x1b[PX^_\]]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)/g;
const sequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/g;
const pieces = /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])|\x1b[ -/]*[0-~]|[\r\b\x1b\x9b]|[^\r\b\x1b\x9b]+/g;
/** What changes or leaves text that stands there already; most lines have nothing but colours. */
const edits = /[\r\b]|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-HJKPXdf`]/;
/** The ends of sequences that put the cursor into another line. */
const jumps = new Set('ABEFHdf');
const widest = 10_000;
const all = Number.POSITIVE_INFINITY;

/** Control characters but TAB, and the invisible ones that turn the direction of text around. */
const leftovers = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** How many bytes at the end may begin a character or a sequence that has not come whole yet. */
export function unfinishedEnd(bytes: Buffer): number {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - longestSequence));
  return beginnings.exec(end)?.[0].length ?? 0;
}

const longestSequence = 1024;
const beginnings =
  /(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}|\x1b(?:[ -/]*|\[[0-?]*[ -/]*|[PX^_\]][^\x07\x1b\n]*\x1b?))$/;
