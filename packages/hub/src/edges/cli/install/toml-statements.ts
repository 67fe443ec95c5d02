/** A header or a pair of a TOML file, with the whole lines it takes. */
export interface Statement {
  readonly isHeader: boolean;
  /** From the root of the file: a pair has the path of its table before its own. */
  readonly path: readonly string[];
  readonly start: number;
  /** Behind its line break. */
  readonly end: number;
  /** Where the value of a pair begins and ends. */
  readonly value?: readonly [start: number, end: number];
}

const blank = /(?:[ \t\r\n]|#[^\n]*)*/y;
const keyPart = /[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*/y;
/** Everything of a value that could hide a bracket, a comma or a line break. */
const valuePart =
  /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\n|[^"'#[\]{}\n]+/y;

/** The statements of a text that is known to be TOML; comments and empty lines belong to none. */
export function tomlStatements(text: string): readonly Statement[] {
  const statements: Statement[] = [];
  let table: readonly string[] = [];
  for (let at = skip(blank, text, 0); at < text.length; at = skip(blank, text, at)) {
    const start = text.lastIndexOf('\n', at - 1) + 1;
    const brackets = text.startsWith('[[', at) ? 2 : text[at] === '[' ? 1 : 0;
    const key = readKey(text, at + brackets);
    if (brackets > 0) {
      table = key.path;
      at = endOfLine(text, key.end);
      statements.push({ isHeader: true, path: table, start, end: at });
      continue;
    }
    const from = skip(/[ \t]*/y, text, key.end + 1);
    const to = endOfValue(text, from);
    at = endOfLine(text, to);
    statements.push({ isHeader: false, path: [...table, ...key.path], start, end: at, value: [from, to] });
  }
  return statements;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

function readKey(text: string, from: number): { readonly path: readonly string[]; readonly end: number } {
  const path: string[] = [];
  for (let at = from; ; at++) {
    keyPart.lastIndex = at;
    const [whole = '', basic, literal, bare] = keyPart.exec(text) ?? [];
    path.push(literal ?? bare ?? unescaped(basic ?? ''));
    at += whole.length;
    if (text[at] !== '.') return { path, end: at };
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u(\w{4})|U(\w{8})|x(\w{2})|(.))/g, (_, short, long, byte, letter: string) => {
    const code = short ?? long ?? byte;
    return code === undefined ? (escapes[letter] ?? letter) : String.fromCodePoint(Number.parseInt(code, 16));
  });
}

const escapes: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b' };

/** Behind the last character of a value, before space and a comment. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let end = from;
  for (let at = from; at < text.length; ) {
    valuePart.lastIndex = at;
    const part = valuePart.exec(text)?.[0] ?? text.slice(at);
    if (part === '\n' && depth === 0) break;
    if (part === '[' || part === '{') depth++;
    if (part === ']' || part === '}') depth--;
    at += part.length;
    if (!part.startsWith('#') && part.trim() !== '') end = at - (part.length - part.trimEnd().length);
  }
  return end;
}
