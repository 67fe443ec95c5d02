import { isDeepStrictEqual } from 'node:util';
import * as jsonc from 'jsonc-parser';
import { BrokenText, type Data, type Editor, lineEnd, placeOf } from './editor.ts';

/** One place of a text and what stands there afterwards. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** JSON and JSONC. The library's own edits would lay out whole lines anew; these touch nothing but the entry. */
export const jsonEditor: Editor = {
  read: (text) => dataOf(rootOf(text)) as Data,

  put(text, table, name, entry) {
    const present = valueAt(tableOf(text, table), name);
    if (
      present?.type === 'object' &&
      Object.keys(dataOf(present) as Data).every((key) => Object.hasOwn(entry, key))
    )
      return Object.entries(entry).reduce(
        (made, [key, value]) => putKey(made, table, name, key, value),
        text,
      );
    return putAt(text, [table, name], entry);
  },

  cut(text, table, name, withTable) {
    const left = cutAt(text, [table, name]);
    return withTable && isEmptyAt(left, [table]) ? cutAt(left, [table]) : left;
  },
};

/** The way from the root to a value: keys of objects and places in lists. */
export type Path = readonly (string | number)[];

/** The text with a value in the place of the one that is there, or behind all that its object or list holds. */
export function putAt(text: string, path: Path, value: unknown): string {
  const root = rootOf(text);
  if (!root)
    return `${text}${text && !/\n$/.test(text) ? lineEnd(text) : ''}${newText(text, nested(path, value))}`;
  let holder = root;
  for (const [depth, key] of path.entries()) {
    const present = valueAt(holder, key);
    if (!present) return apply(text, added(text, root, holder, key, nested(path.slice(depth + 1), value)));
    holder = present;
  }
  return apply(text, [replaced(text, root, holder, value)]);
}

/** The text without a value and its key. */
export function cutAt(text: string, path: Path): string {
  const root = rootOf(text);
  const holder = root && nodeAt(root, path.slice(0, -1));
  const key = path.at(-1) ?? '';
  const gone = typeof key === 'number' ? holder?.children?.[key] : holder && propertyOf(holder, key);
  return holder && gone ? apply(text, removed(text, holder, gone)) : text;
}

/** Whether an object or a list holds nothing, not even a comment. */
export function isEmptyAt(text: string, path: Path): boolean {
  const root = rootOf(text);
  return /^(?:\{\s*\}|\[\s*\])$/.test(sliceOf(text, root && nodeAt(root, path)));
}

function nodeAt(root: jsonc.Node, path: Path): jsonc.Node | undefined {
  return path.reduce<jsonc.Node | undefined>(valueAt, root);
}

function nested(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }), value);
}

/** One key of an entry that is there, so that the comments in it stay where they are. */
function putKey(text: string, table: string, name: string, key: string, value: unknown): string {
  const root = rootOf(text);
  const entry = valueAt(valueAt(root, table), name);
  if (!root || !entry) return text;
  const present = valueAt(entry, key);
  if (!present) return apply(text, added(text, root, entry, key, value));
  return isDeepStrictEqual(dataOf(present), value)
    ? text
    : apply(text, [replaced(text, root, present, value)]);
}

function tableOf(text: string, table: string): jsonc.Node | undefined {
  return valueAt(rootOf(text), table);
}

/** Undefined where there is nothing but space and comments. */
function rootOf(text: string): jsonc.Node | undefined {
  const errors: jsonc.ParseError[] = [];
  const root = jsonc.parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error) throw broken(text, error.offset, spelled(jsonc.printParseErrorCode(error.error)));
  if (root && root.type !== 'object') throw broken(text, root.offset, 'an object is expected');
  return root;
}

/** `CommaExpected` as words. */
function spelled(code: string): string {
  return code.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

function broken(text: string, offset: number, message: string): BrokenText {
  const { line, column } = placeOf(text, offset);
  return new BrokenText(message, line, column);
}

/** As the library would say it, but with every key as a key, `__proto__` too. */
function dataOf(node: jsonc.Node | undefined): unknown {
  if (!node) return {};
  if (node.type === 'array') return (node.children ?? []).map(dataOf);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(
    (node.children ?? []).map(({ children }) => [children?.[0]?.value, dataOf(children?.[1])]),
  );
}

function propertyOf(object: jsonc.Node, name: string): jsonc.Node | undefined {
  return object.children?.findLast(({ children }) => children?.[0]?.value === name);
}

/** What a key of an object holds, or a place in a list. */
function valueAt(holder: jsonc.Node | undefined, key: string | number): jsonc.Node | undefined {
  return typeof key === 'number' ? holder?.children?.[key] : holder && propertyOf(holder, key)?.children?.[1];
}

function newText(text: string, value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`.replaceAll('\n', lineEnd(text));
}

function replaced(text: string, root: jsonc.Node, value: jsonc.Node, entry: unknown): Edit {
  const layout = layoutOf(text, root);
  return { ...spanOf(value), text: layout.written(entry, indentAt(text, value.offset)) };
}

/** A property or an item behind all that an object or a list holds, the comments too. */
function added(
  text: string,
  root: jsonc.Node,
  object: jsonc.Node,
  key: string | number,
  value: unknown,
): readonly Edit[] {
  const layout = layoutOf(text, root);
  const inside = object.offset + 1;
  const close = spanOf(object).end - 1;
  const first = object.children?.[0];
  const last = object.children?.at(-1);
  const from = last ? spanOf(last).end : inside;
  const { end, comma } = tokensBetween(text, from, close);
  const brace = indentAt(text, object.offset);
  const around = `${text.slice(inside, first?.offset ?? close)}${text.slice(from, close)}`;
  const compact = (first !== undefined || layout.compact) && !around.includes('\n');
  const ownLine = first && text.slice(inside, first.offset).includes('\n');
  const indent = ownLine ? indentAt(text, first.offset) : brace + layout.unit;
  const before = compact ? (last && /\s/.test(text[inside] ?? '') ? ' ' : '') : layout.eol + indent;
  const name = typeof key === 'number' ? '' : `${JSON.stringify(key)}:${compact && !before ? '' : ' '}`;
  const property = `${name}${compact ? JSON.stringify(value) : layout.written(value, indent)}`;
  const closing = compact || text.slice(end, close).includes('\n') ? '' : layout.eol + brace;
  const ends = comma === undefined || !last ? '' : ',';
  const edits = last && comma === undefined ? [{ start: from, end: from, text: ',' }] : [];
  // Space without a line in it, as in `{ }`, gives way to the new lines.
  return [
    ...edits,
    { start: end, end: closing ? close : end, text: `${before}${property}${ends}${closing}` },
  ];
}

/** A property or an item with the line it stands on and the comma that is no longer needed. */
function removed(text: string, object: jsonc.Node, gone: jsonc.Node): readonly Edit[] {
  const properties = object.children ?? [];
  const index = properties.indexOf(gone);
  const { start, end } = spanOf(gone);
  const inside = object.offset + 1;
  const close = spanOf(object).end - 1;
  const previous = properties[index - 1];
  const comma = tokensBetween(text, end, properties[index + 1]?.offset ?? close).comma;
  const spare =
    comma === undefined && previous ? tokensBetween(text, spanOf(previous).end, start).comma : undefined;
  const until = comma === undefined ? end : comma + 1;
  if (properties.length === 1 && `${text.slice(inside, start)}${text.slice(until, close)}`.trim() === '')
    return [{ start: inside, end: close, text: '' }];
  const ownLine = /\r?\n[ \t]*$/.exec(text.slice(0, start))?.[0];
  const endsLine = /^[ \t]*(?=\r?\n)/.exec(text.slice(until))?.[0];
  // A line that is left to others stays a line: what stands above may be a comment that ends with it.
  const wholeLine = ownLine !== undefined && endsLine !== undefined;
  const before = wholeLine ? ownLine : comma === undefined ? blanksBefore(text, start) : '';
  const after = wholeLine ? endsLine : comma === undefined ? '' : blanksAfter(text, until);
  return [
    ...(spare === undefined ? [] : [{ start: spare, end: spare + 1, text: '' }]),
    { start: start - before.length, end: until + after.length, text: '' },
  ];
}

const blanksBefore = (text: string, offset: number): string =>
  /[ \t]*$/.exec(text.slice(0, offset))?.[0] ?? '';
const blanksAfter = (text: string, offset: number): string => /^[ \t]*/.exec(text.slice(offset))?.[0] ?? '';

/** Where the last token between two places ends, comments are tokens, and where a comma is. */
function tokensBetween(text: string, from: number, to: number): { end: number; comma: number | undefined } {
  const scanner = jsonc.createScanner(text);
  scanner.setPosition(from);
  let end = from;
  let comma: number | undefined;
  for (let kind = scanner.scan(); scanner.getTokenOffset() < to; kind = scanner.scan()) {
    if (kind === jsonc.SyntaxKind.EOF) break;
    if (kind === jsonc.SyntaxKind.Trivia || kind === jsonc.SyntaxKind.LineBreakTrivia) continue;
    if (kind === jsonc.SyntaxKind.CommaToken) comma ??= scanner.getTokenOffset();
    end = scanner.getTokenOffset() + scanner.getTokenLength();
  }
  return { end, comma };
}

interface Layout {
  readonly eol: string;
  /** One step of indentation. */
  readonly unit: string;
  /** Whether the file is one line. */
  readonly compact: boolean;
  written(value: unknown, indent: string): string;
}

function layoutOf(text: string, root: jsonc.Node): Layout {
  const eol = lineEnd(text);
  const first = root.children?.[0];
  const compact = first !== undefined && !sliceOf(text, root).includes('\n');
  const unit = (first && /\n([ \t]+)$/.exec(text.slice(0, first.offset))?.[1]) || '  ';
  return {
    ...{ eol, unit, compact },
    written: (value, indent) =>
      compact ? JSON.stringify(value) : JSON.stringify(value, null, unit).replaceAll('\n', eol + indent),
  };
}

/** The space at the beginning of the line that an offset is in. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

const spanOf = ({ offset, length }: jsonc.Node) => ({ start: offset, end: offset + length });
const sliceOf = (text: string, node: jsonc.Node | undefined): string =>
  node ? text.slice(node.offset, node.offset + node.length) : '';

function apply(text: string, edits: readonly Edit[]): string {
  return edits
    .toReversed()
    .toSorted((a, b) => b.start - a.start)
    .reduce((result, { start, end, text: put }) => result.slice(0, start) + put + result.slice(end), text);
}
