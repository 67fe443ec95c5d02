import { isDeepStrictEqual } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import type { Change } from './change.ts';
import { jsonEditor } from './edit-json.ts';
import { tomlEditor } from './edit-toml.ts';
import { BrokenText, type Data, type Editor } from './editor.ts';
import { readUserFile, type UserFile } from './user-file.ts';

export type Format = 'json' | 'toml';

export const editors: Readonly<Record<Format, Editor>> = { json: jsonEditor, toml: tomlEditor };
const byteOrderMark = '\ufeff';

/** A file of a client, and what it says. */
export interface Document {
  readonly file: UserFile;
  readonly format: Format;
  /** The text without its byte order mark, and that. */
  readonly text: string;
  readonly mark: string;
  readonly data: Data;
}

/** Reads the file; one that makes no sense is refused by the place of its trouble. */
export function readDocument(path: string, format: Format): Document {
  return understood(readUserFile(path), format, path);
}

/** The file as it is to be. */
export function afterChange({ file, text }: Change, format: Format): Document {
  return understood({ ...file, text }, format, file.path);
}

function understood(file: UserFile, format: Format, path: string): Document {
  const mark = file.text?.startsWith(byteOrderMark) ? byteOrderMark : '';
  const text = (file.text ?? '').slice(mark.length);
  try {
    return { file, format, text, mark, data: editors[format].read(text) };
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

/** What a file is to say, and what its user may do where it cannot be made to. */
interface Meaning {
  readonly table: string;
  readonly says: (data: Data) => boolean;
  readonly hint: string;
}

/** Whatever an editor did, nothing is written that says something else than it should. */
export function changed({ file, format, mark }: Document, made: string, meaning: Meaning): Change {
  const { table, says, hint } = meaning;
  try {
    if (says(editors[format].read(made))) return { file, text: mark + made };
  } catch (cause) {
    if (!(cause instanceof BrokenText)) throw cause;
  }
  throw new PolyError(
    'conflict',
    `${table} in ${file.path} is written in a way that poly cannot change without touching the rest. Nothing was changed.`,
    { hint },
  );
}

/** A table of the file; empty where there is none. */
export function tableIn({ data, file: { path } }: Document, table: string, ofWhat: string): Data {
  const found = data[table] === undefined ? {} : data[table];
  if (isTable(found)) return found;
  throw new PolyError('conflict', `${table} in ${path} is no table of ${ofWhat}. Nothing was changed.`, {
    hint: 'Mend it, then try again.',
  });
}

export function isTable(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const sayingJust =
  (wanted: Data) =>
  (data: Data): boolean =>
    isDeepStrictEqual(data, wanted);
