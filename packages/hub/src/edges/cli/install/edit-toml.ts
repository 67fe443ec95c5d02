import * as toml from 'smol-toml';
import { BrokenText, type Data, type Editor, lineEnd } from './editor.ts';
import { type Statement, tomlStatements } from './toml-statements.ts';

/** TOML, whose library can only write a file anew, without its comments. */
export const tomlEditor: Editor = {
  read(text) {
    try {
      return plain(toml.parse(text, { integersAsBigInt: 'asNeeded' })) as Data;
    } catch (cause) {
      if (!(cause instanceof toml.TomlError)) throw cause;
      const [message = ''] = cause.message.split('\n');
      throw new BrokenText(message.replace(/^Invalid TOML document: /, ''), cause.line, cause.column);
    }
  },

  put(text, table, name, entry) {
    const statements = statementsOf(text, table, name);
    const depth = depthOf(table);
    const header = statements.find(({ isHeader, path }) => isHeader && path.length === depth);
    const eol = lineEnd(text);
    const lines = Object.entries(entry).map(([key, value]) => `${key} = ${valueText(value)}${eol}`);
    const isPlain = ({ path }: Statement): boolean =>
      path.length === depth || (path.length === depth + 1 && Object.hasOwn(entry, path[depth] ?? ''));
    if (header && statements.every(isPlain)) return replaced(text, header, statements, entry, eol);
    const kept = withoutStatements(text, statements);
    const closed = kept === '' || kept.endsWith('\n') ? kept : kept + eol;
    const gap = closed === '' || /\n\r?\n$/.test(closed) ? '' : eol;
    return `${closed}${gap}[${table}.${keyText(name)}]${eol}${lines.join('')}`;
  },

  cut: (text, table, name) => withoutStatements(text, statementsOf(text, table, name)),
};

/** The library's tables have no prototype, which is one difference too many where texts are compared. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** The statements of an entry, whatever tables they are spread over. */
function statementsOf(text: string, table: string, name: string): readonly Statement[] {
  const wanted = [...table.split('.'), name];
  return tomlStatements(text).filter(({ path }) => wanted.every((part, at) => path[at] === part));
}

const depthOf = (table: string): number => table.split('.').length + 1;

/** An entry in its place: what it has already is changed there, so that comments between stay where they are. */
function replaced(
  text: string,
  header: Statement,
  statements: readonly Statement[],
  entry: Data,
  eol: string,
): string {
  const pairs = new Map(
    statements.filter(({ isHeader }) => !isHeader).map((pair) => [pair.path.at(-1), pair]),
  );
  let at = header.end;
  let result = text.slice(0, at);
  if (!result.endsWith('\n')) result += eol;
  const missing = Object.entries(entry).filter(([key]) => !pairs.has(key));
  for (const [key, value] of missing) result += `${key} = ${valueText(value)}${eol}`;
  for (const [key, { value: [start, end] = [0, 0] }] of pairs) {
    result += text.slice(at, start) + valueText(entry[key ?? '']);
    at = end;
  }
  return result + text.slice(at);
}

/** Cuts whole lines, and the empty line that set them off. */
function withoutStatements(text: string, statements: readonly Statement[]): string {
  let result = text;
  for (const { start, end } of statements.toReversed()) {
    const before = result.slice(0, start);
    const after = result.slice(end);
    const setOff = /(^|\n)\r?\n$/.test(before) && /^(\r?\n|$)/.test(after);
    result = (setOff ? before.replace(/\r?\n$/, '') : before) + after;
  }
  return result;
}

function keyText(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : valueText(name);
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  // JSON's strings are TOML's, but for one character that TOML wants escaped.
  return JSON.stringify(value).replaceAll('\x7f', '\\u007f');
}
