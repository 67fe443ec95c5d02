declare class TextEncoder {
  encode(text: string): Uint8Array;
}

const escapes = /\\(?:([nrte0\\])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/g;
const characters: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  e: '\x1b',
  '0': '\0',
  '\\': '\\',
};

/**
 * What a tool's caller wants typed: `\n \r \t \\ \e \0 \xNN \uNNNN` become what they stand for, every other backslash
 * stays one. `\xNN` is one byte, so that it can say what is no text.
 *
 * @example decodeEscapes('ls\\n') // the bytes of "ls" and a line feed
 */
export function decodeEscapes(text: string): Uint8Array {
  const bytes: number[] = [];
  let plain = '';
  let at = 0;
  const flush = (): void => {
    for (const byte of new TextEncoder().encode(plain)) bytes.push(byte);
    plain = '';
  };
  for (const { 0: whole, 1: letter, 2: byte, 3: unit, index } of text.matchAll(escapes)) {
    plain += text.slice(at, index);
    at = index + whole.length;
    if (byte === undefined)
      plain +=
        letter === undefined ? String.fromCharCode(Number.parseInt(unit ?? '', 16)) : characters[letter];
    else {
      flush();
      bytes.push(Number.parseInt(byte, 16));
    }
  }
  plain += text.slice(at);
  flush();
  return Uint8Array.from(bytes);
}
