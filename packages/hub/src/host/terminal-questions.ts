const escapeByte = 0x1b;
const longestUnfinished = 32;

/** A question to a terminal, as one that is told nothing else would be asked it. */
export interface Question {
  readonly text: string;
  /** How far before the end of what is printed now it begins, and how long it is there. */
  readonly back: number;
  readonly length: number;
}

/** What are you, where is your cursor, which modes, settings and colours have you. What all have in common is looked at once. */
const questions =
  /\x1b(?:\[(?:[>=]?\d*c|\??\d+(?:n|\$p)|>\d*q)|(?:P[$+]q[^\x07\x1b]{0,64}|\](?:4;\d+|1[0-2]);\?)(\x07|\x1b\\)?)/g;
const unfinished = /\x1b(?:\[[0-?]*\$?|\][\d;]*|P[$+]?)?$/;
const stringEnd = '\x1b\\';

/** Finds out what a program asks its terminal, so that one need be there only for those that do, and none goes unanswered. */
export class TerminalQuestions {
  /** The beginning of a sequence whose end is still to come. */
  #begun = '';

  find(chunk: Uint8Array): readonly Question[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const at = this.#begun === '' ? bytes.indexOf(escapeByte) : 0;
    if (at === -1) return [];
    const text = this.#begun + bytes.toString('latin1', at);
    this.#begun = unfinished.exec(text.slice(-longestUnfinished))?.[0] ?? '';
    return Array.from(text.matchAll(questions), ({ 0: asked, 1: end, index }) => ({
      text: asked[1] === '[' || end ? asked : asked + stringEnd,
      back: text.length - index,
      length: asked.length,
    }));
  }
}
