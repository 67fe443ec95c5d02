/** An option's value; an array option is a table from index to value, and may have gaps. */
export type OptionValue = string | Readonly<Record<string, string>>;

/** Options as tmux shows them. */
export interface ShownOptions {
  readonly options: Readonly<Record<string, OptionValue>>;
  /** The names of those not set here but further out; only when asked for. */
  readonly inherited: readonly string[];
}

/** Reads `name value`, `name[0] value` and, of an empty array, `name`; a `*` after the name marks an inherited one. */
export function readOptions(lines: readonly string[]): ShownOptions {
  const options: Record<string, OptionValue> = {};
  const inherited = new Set<string>();
  for (const line of lines) {
    const [, name = line, index, star, value] =
      /^([^\s[*]+)(?:\[([^\]]*)\])?(\*)?(?: (.*))?$/s.exec(line) ?? [];
    if (star) inherited.add(name);
    if (index !== undefined)
      options[name] = { ...itemsOf(options[name]), [index]: unquoteOption(value ?? '') };
    else options[name] = value === undefined ? {} : unquoteOption(value);
  }
  return { options, inherited: [...inherited] };
}

function itemsOf(value: OptionValue | undefined): Readonly<Record<string, string>> {
  return typeof value === 'object' ? value : {};
}

/** What tmux writes as a backslash and a letter. */
const letters: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  a: '\x07',
  v: '\v',
  f: '\f',
  s: ' ',
};

/**
 * The value behind what tmux prints: it escapes strings, with quotes around them where a space or a mark asks for it,
 * and leaves numbers, keys and commands as they are.
 */
export function unquoteOption(printed: string): string {
  const mark = printed.charAt(0);
  const quoted = printed.length > 1 && (mark === '"' || mark === "'") && printed.endsWith(mark);
  if (!quoted && /[\s"']/.test(printed.replace(/\\./g, ''))) return printed;
  const body = quoted ? printed.slice(1, -1) : printed;
  // Before a variable there is an odd number of backslashes; tmux 3.4 adds one more on its way out.
  const even = body.replace(/\\+(?=\$[A-Za-z_{])/g, (run) => (run.length % 2 === 0 ? run.slice(1) : run));
  // Bytes, as one character that tmux cannot print comes as several octal escapes.
  const pieces = even.match(/\\[0-7]{3}|\\.|[^\\]+|\\$/gs) ?? [];
  return Buffer.concat(pieces.map(bytesOf)).toString('utf8');
}

function bytesOf(piece: string): Buffer {
  if (!piece.startsWith('\\') || piece === '\\') return Buffer.from(piece);
  const rest = piece.slice(1);
  return rest.length === 3 ? Buffer.from([Number.parseInt(rest, 8)]) : Buffer.from(letters[rest] ?? rest);
}
