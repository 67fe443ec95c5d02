import { isDeepStrictEqual } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import { type Change, undone } from './change.ts';
import { isOurs, type Shape, shapeOf, wordsOf } from './clients.ts';
import { changed, type Document, editors, isTable, readDocument, sayingJust, tableIn } from './document.ts';
import type { Data } from './editor.ts';
import type { Receipts } from './receipts.ts';
import type { Target } from './targets.ts';

/** A file of a client, and what it says about the entry. */
export interface Found extends Document {
  readonly shape: Shape;
  readonly entry: unknown;
  readonly state: 'absent' | 'ours' | 'foreign';
}

export function look({ file: path, shape: known }: Target, name: string): Found {
  const document = readDocument(path, known?.format ?? (path.endsWith('.toml') ? 'toml' : 'json'));
  const shape = known ?? shapeOf(path, document.data);
  const table = tableIn(document, shape.table, 'servers');
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  const state = entry === undefined ? 'absent' : isOurs(shape, entry, isDeepStrictEqual) ? 'ours' : 'foreign';
  return { ...document, shape, entry, state };
}

/** The file with the entry. */
export function withEntry(found: Found, name: string, entry: Data): Change {
  const { shape, text, data } = found;
  const made = editors[shape.format].put(text, shape.table, name, entry);
  const table = { ...(data[shape.table] as Data | undefined), [name]: entry };
  return changed(found, made, {
    table: shape.table,
    says: sayingJust({ ...data, [shape.table]: table }),
    hint: `Add it by hand: ${JSON.stringify({ [name]: entry })}`,
  });
}

/** The file without the entry: to the byte as it was, or else with all that has come since. */
export function withoutEntry(found: Found, name: string, what: string, receipts: Receipts): Change {
  const { file, shape, text, data } = found;
  const exact = undone(file, what, receipts);
  if (exact) return exact;
  const withTable = receipts.find(file.path, what)?.madeTable === true;
  const made = editors[shape.format].cut(text, shape.table, name, withTable);
  const { [name]: _, ...table } = data[shape.table] as Data;
  const { [shape.table]: __, ...others } = data;
  const left = (after: Data): boolean => Object.keys(table).length > 0 || isTable(after[shape.table]);
  return changed(found, made, {
    table: shape.table,
    says: (after) => sayingJust(left(after) ? { ...data, [shape.table]: table } : others)(after),
    hint: 'Remove it by hand.',
  });
}

export function refuseForeign({ file: { path }, entry }: Found, name: string): PolyError {
  const starts = wordsOf(entry)?.join(' ');
  const says = starts === undefined ? 'it starts no program' : `it starts "${starts}"`;
  return new PolyError('conflict', `the entry "${name}" in ${path} is not as poly writes it: ${says}.`, {
    hint: 'Leave it and say another --name, or say --force.',
  });
}
