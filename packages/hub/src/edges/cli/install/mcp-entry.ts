import { isDeepStrictEqual } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import { type Change, undone } from './change.ts';
import { isOurs, type Shape, shapeOf, wordsOf } from './clients.ts';
import { jsonEditor } from './edit-json.ts';
import { tomlEditor } from './edit-toml.ts';
import { BrokenText, type Data, type Editor } from './editor.ts';
import type { Receipts } from './receipts.ts';
import type { Target } from './targets.ts';
import { readUserFile, type UserFile } from './user-file.ts';

const editors: Readonly<Record<Shape['format'], Editor>> = { json: jsonEditor, toml: tomlEditor };
const byteOrderMark = '\ufeff';

/** A file of a client, and what it says about the entry. */
export interface Found {
  readonly file: UserFile;
  readonly shape: Shape;
  /** The text without its byte order mark, and that. */
  readonly text: string;
  readonly mark: string;
  readonly data: Data;
  readonly entry: unknown;
  readonly state: 'absent' | 'ours' | 'foreign';
}

/** Looks into the file; one that cannot be read is refused by the place of its trouble. */
export function look({ file: path, shape: known }: Target, name: string): Found {
  const file = readUserFile(path);
  const mark = file.text?.startsWith(byteOrderMark) ? byteOrderMark : '';
  const text = (file.text ?? '').slice(mark.length);
  const format = path.endsWith('.toml') ? 'toml' : 'json';
  const data = readData(path, text, known?.format ?? format);
  const shape = known ?? shapeOf(path, data);
  const table = data[shape.table] ?? {};
  if (!isTable(table))
    throw new PolyError(
      'conflict',
      `${shape.table} in ${path} is no table of servers. Nothing was changed.`,
      {
        hint: 'Mend it, then try again.',
      },
    );
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  const state = entry === undefined ? 'absent' : isOurs(shape, entry, isDeepStrictEqual) ? 'ours' : 'foreign';
  return { file, shape, text, mark, data, entry, state };
}

function readData(path: string, text: string, format: Shape['format']): Data {
  try {
    return editors[format].read(text);
  } catch (cause) {
    if (!(cause instanceof BrokenText)) throw cause;
    const { message, line, column } = cause;
    throw new PolyError(
      'conflict',
      `${path}:${line}:${column} is no ${format.toUpperCase()}: ${message}. Nothing was changed.`,
      { hint: 'Mend it, then try again.', cause },
    );
  }
}

function isTable(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The file with the entry. */
export function withEntry({ file, shape, text, mark, data }: Found, name: string, entry: Data): Change {
  const made = editors[shape.format].put(text, shape.table, name, entry);
  const table = { ...(data[shape.table] as Data | undefined), [name]: entry };
  requireSame(
    made,
    { ...data, [shape.table]: table },
    file,
    shape,
    `Add it by hand: ${JSON.stringify({ [name]: entry })}`,
  );
  return { file, text: mark + made };
}

/** The file without the entry: to the byte as it was, or else with all that has come since. */
export function withoutEntry(found: Found, name: string, what: string, receipts: Receipts): Change {
  const { file, shape, text, mark, data } = found;
  const exact = undone(file, what, receipts);
  if (exact) return exact;
  const withTable = receipts.find(file.path, what)?.madeTable === true;
  const made = editors[shape.format].cut(text, shape.table, name, withTable);
  const { [name]: _, ...table } = data[shape.table] as Data;
  const { [shape.table]: __, ...others } = data;
  const left = Object.keys(table).length > 0 || isTable(readData(file.path, made, shape.format)[shape.table]);
  requireSame(made, left ? { ...data, [shape.table]: table } : others, file, shape, 'Remove it by hand.');
  return { file, text: mark + made };
}

/** Whatever an editor did, nothing is written that says something else than it should. */
function requireSame(
  made: string,
  wanted: Data,
  { path }: UserFile,
  { table, format }: Shape,
  hint: string,
): void {
  try {
    if (isDeepStrictEqual(editors[format].read(made), wanted)) return;
  } catch (cause) {
    if (!(cause instanceof BrokenText)) throw cause;
  }
  throw new PolyError(
    'conflict',
    `${table} in ${path} is written in a way that poly cannot change without touching the rest. Nothing was changed.`,
    { hint },
  );
}

export function refuseForeign({ file: { path }, entry }: Found, name: string): PolyError {
  const starts = wordsOf(entry)?.join(' ');
  const says = starts === undefined ? 'it starts no program' : `it starts "${starts}"`;
  return new PolyError('conflict', `the entry "${name}" in ${path} is not as poly writes it: ${says}.`, {
    hint: 'Leave it and say another --name, or say --force.',
  });
}
