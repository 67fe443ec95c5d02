import { existsSync } from 'node:fs';
import { digest, type Receipts } from './receipts.ts';
import { unifiedDiff } from './unified-diff.ts';
import {
  missingFolders,
  removeUserFile,
  requireWritable,
  type UserFile,
  writeUserFile,
} from './user-file.ts';

/** A change to a file, before it is made. */
export interface Change {
  readonly file: UserFile;
  /** What the file is to hold; undefined when it is to go. */
  readonly text: string | undefined;
}

export function diffOf({ file: { path, text: before }, text }: Change): string {
  return unifiedDiff(path, before, text);
}

interface Making {
  /** What is written, for the receipt. */
  readonly what: string;
  /** Whether the file holds an earlier version of it. */
  readonly renews: boolean;
  readonly madeTable: boolean;
  readonly made?: readonly string[];
  /** For a file that is not there yet. */
  readonly newMode: number;
}

/** Backs up, writes, and keeps the receipt; answers where the backup is. */
export function make({ file, text = '' }: Change, receipts: Receipts, making: Making): string | undefined {
  const { what, renews, madeTable, made, newMode } = making;
  requireWritable(file);
  receipts.prepare();
  const earlier = receipts.find(file.path, what);
  const ours = earlier !== undefined && file.text !== undefined && earlier.after === digest(file.text);
  const backup = file.text === undefined ? undefined : receipts.backup(file.path, file.text);
  const folders = missingFolders(file.path);
  writeUserFile(file, text, newMode);
  const before = file.text === undefined ? null : renews ? undefined : digest(file.text);
  receipts.add({
    // What stood there before poly came is what uninstalling gives back, however often it was renewed.
    ...(ours ? earlier : { ...(before !== undefined && { before }), folders, madeTable }),
    ...{ file: file.path, what, after: digest(text), ...(made && { made }) },
  });
  return backup;
}

/** The file as it was, where nothing else has changed since; undefined when that cannot be told. */
export function undone(file: UserFile, what: string, receipts: Receipts): Change | undefined {
  const receipt = receipts.find(file.path, what);
  if (!receipt || file.text === undefined || receipt.after !== digest(file.text)) return undefined;
  if (receipt.before === null) return { file, text: undefined };
  const text = receipts.restored(receipt);
  return text === undefined ? undefined : { file, text };
}

/** Takes back what was written; answers where the backup is. */
export function unmake({ file, text }: Change, what: string, receipts: Receipts): string {
  requireWritable(file);
  receipts.prepare();
  const backup = receipts.backup(file.path, file.text ?? '');
  const { folders = [] } = receipts.find(file.path, what) ?? {};
  if (text === undefined) removeUserFile(file, folders);
  else writeUserFile(file, text, 0o600);
  receipts.remove(
    file.path,
    what,
    folders.filter((folder) => existsSync(folder)),
  );
  return backup;
}
