/** Control characters, and the invisible ones that hide text or turn its direction around. */
const tricks =
  /[\0-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Text that somebody else wrote, with everything in it that could deceive made visible. */
export function harmless(text: string): string {
  return text.replace(tricks, (found) => {
    const code = found.codePointAt(0) ?? 0;
    if (found === '\t' || found === '\n') return ' ';
    if (code > 0xffff) return `\\u{${code.toString(16)}}`;
    return code < 0x20 ? `^${String.fromCharCode(code + 64)}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same of a text whose lines mean something. */
export function harmlessLines(text: string): string {
  return text.split(/\r?\n/).map(harmless).join('\n');
}
