/**
 * Takes terminal bytes and gives the text a person reads: escape sequences and control characters gone, a character
 * split between two chunks whole. Feed it chunk by chunk. No I/O.
 */
export class PlainText {
  readonly #decoder = new TextDecoder('utf-8');
  #rest = '';
  #returns = '';

  feed(bytes: Uint8Array): string {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    // A sequence cut off at the end of a chunk waits for the next one, unless it is too long to be one.
    const open = openSequence.exec(text);
    const cut = open && text.length - open.index < longestSequence ? open.index : text.length;
    this.#rest = text.slice(cut);
    const plain = this.#returns + text.slice(0, cut).replace(sequences, '').replace(controls, '');
    // So does a carriage return: what follows tells whether it belongs to a newline.
    const end = plain.length - (/\r+$/.exec(plain)?.[0].length ?? 0);
    this.#returns = plain.slice(end);
    return plain.slice(0, end).replace(/\r+\n/g, '\n');
  }
}

const longestSequence = 4096;
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
/** CSI; OSC, DCS, SOS, PM and APC up to their end; other escapes of two or three characters. Most have an 8-bit form. */
const sequences =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]+[0-~]|\u001b[0-Z\\`-~]/g;
const openSequence =
  /(?:(?:\u001b\[|\u009b)[0-?]*[ -/]*|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*\u001b?|\u001b[ -/]*)$/;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above
