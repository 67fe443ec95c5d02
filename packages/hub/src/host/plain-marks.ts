import { isAscii } from 'node:buffer';
import { carriageReturn, newline } from './line-starts.ts';

const blockSize = 64 * 1024;

/** Remembers where output is more than plain text, so that a search need not look at every byte twice. */
export class PlainMarks {
  /** The numbers of the blocks that are not plain, in their order. */
  readonly #blocks = new Set<number>();
  #afterReturn = false;

  note(chunk: Uint8Array, at: number): void {
    if (chunk.length === 0) return;
    const writesOver = this.#afterReturn && chunk[0] !== newline && chunk[0] !== carriageReturn;
    this.#afterReturn = chunk.at(-1) === carriageReturn;
    if (!writesOver && isPlain(chunk)) return;
    for (let block = blockOf(at); block <= blockOf(at + chunk.length - 1); block++) this.#blocks.add(block);
  }

  dropBefore(offset: number): void {
    for (const block of this.#blocks) {
      if (block >= blockOf(offset)) return;
      this.#blocks.delete(block);
    }
  }

  /** Whether the plain view of the lines between two places is their bytes, but for the ends of the lines. */
  isPlain(from: number, to: number): boolean {
    for (let block = blockOf(from); block * blockSize < to; block++)
      if (this.#blocks.has(block)) return false;
    return true;
  }
}

const blockOf = (offset: number): number => Math.floor(offset / blockSize);

const tab = 0x09;
const highBits = 0x80808080;

/** Whether the bytes are what people read: ASCII without control characters, but for tabs and the ends of lines. */
export function isPlain(bytes: Uint8Array): boolean {
  if (!isAscii(bytes)) return false;
  // Words of memory begin at a multiple of four.
  const head = -bytes.byteOffset & 3;
  if (bytes.length < head + 4) return isPlainBetween(bytes, 0, bytes.length);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    // Sets the high bit of a byte below space, and of DEL; now and then of its neighbour too.
    const suspects = ((word - 0x20202020) | (word + 0x01010101)) & highBits;
    if (suspects !== 0 && !isPlainBetween(bytes, head + i * 4, head + i * 4 + 4)) return false;
  }
  return isPlainBetween(bytes, 0, head) && isPlainBetween(bytes, head + words.length * 4, bytes.length);
}

function isPlainBetween(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte >= 0x20 ? byte === 0x7f : byte !== newline && byte !== tab && !endsLine(bytes, at)) return false;
  }
  return true;
}

/** Whether only carriage returns come before the end of the line. */
function endsLine(bytes: Uint8Array, at: number): boolean {
  const after = at + 1 < bytes.length ? bytes[at + 1] : newline;
  return bytes[at] === carriageReturn && (after === newline || after === carriageReturn);
}
