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

/** The lines of a page as a person would read them. */
export function plainLines({ bytes, from, firstLine, softBreaks }: OutputPage): readonly PaneLine[] {
  const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const breaks = softBreaks.map((offset) => offset - from);
  const lines: PaneLine[] = [];
  for (let at = 0; at < page.length; ) {
    const newline = page.indexOf(0x0a, at);
    const soft = breaks.find((offset) => offset > at) ?? page.length;
    const broken = newline < 0 || soft <= newline;
    const end = broken ? soft : newline;
    lines.push({ n: firstLine + 1 + lines.length, text: plainLine(page.toString('utf8', at, end)) });
    at = broken ? end : end + 1;
  }
  return lines;
}

/**
 * What a person would read of one line of output: no escapes, a space where the cursor jumped, and of a line that was
 * written over with carriage returns what stood there last.
 */
export function plainLine(text: string): string {
  if (text.search(leftovers) < 0) return text;
  const line = text
    .replace(stringSequences, '')
    .replace(controlSequences, (_, parameters: string, final: string) => {
      if (final === 'C') return ' '.repeat(Math.min(Number.parseInt(parameters, 10) || 1, widestJump));
      return jumps.has(final) ? ' ' : '';
    })
    .replace(shortSequences, '');
  const shown = line.endsWith('\r') ? line.slice(0, -1) : line;
  return shown
    .split('\r')
    .reduce((before, after) => after + before.slice(after.length), '')
    .replace(leftovers, '');
}

/** Titles, links and the like: everything up to their end, or to the end of the line when that is missing. */
const stringSequences = /(?:\x1b[PX^_\]]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)/g;
const controlSequences = /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])/g;
const shortSequences = /\x1b[ -/]*[0-~]/g;
/** The ends of sequences that put the cursor somewhere else. */
const jumps = new Set('ABDEFGHdf`');
const widestJump = 200;

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
