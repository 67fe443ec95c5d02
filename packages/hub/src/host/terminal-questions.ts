const escapeByte = 0x1b;
const longestUnfinished = 32;

/** What are you, where is your cursor, which modes, settings and colours have you. */
const question =
  /\x1b\[[>=]?\d*c|\x1b\[\??\d+n|\x1b\[\??\d+\$p|\x1b\[>\d*q|\x1bP[$+]q|\x1b\](?:4;\d+|1[0-2]);\?/;
const unfinished = /\x1b(?:\[[0-?]*\$?|\][\d;]*|P[$+]?)?$/;

/** Finds out whether a program asks its terminal something, so that one need be there only for those that do. */
export class TerminalQuestions {
  /** The beginning of a sequence whose end is still to come. */
  #begun = '';

  /** Answers how far before the end of what is printed now the first question may begin; nothing when none is asked. */
  find(chunk: Uint8Array): number | undefined {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const at = this.#begun === '' ? bytes.indexOf(escapeByte) : 0;
    if (at === -1) return undefined;
    const text = this.#begun + bytes.toString('latin1', at);
    const found = question.exec(text);
    this.#begun = unfinished.exec(text.slice(-longestUnfinished))?.[0] ?? '';
    return found ? text.length - found.index : undefined;
  }
}
