import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { placesOf } from '../../../platform/places.ts';
import { privateDirectory, writePrivate } from '../../../platform/private-files.ts';
import type { Env } from '../env.ts';

/** What was done to a file, so that it can be undone to the byte. */
export interface Receipt {
  readonly file: string;
  /** Which of the things that poly writes; a file can hold several. */
  readonly what: string;
  /** Digest of the text before, of which there is a backup; null when there was no file, undefined when it is lost. */
  readonly before?: string | null;
  readonly after: string;
  /** The folders that were made for the file, the deepest first. */
  readonly folders: readonly string[];
  /** Whether the table that holds the entry is ours too. */
  readonly madeTable: boolean;
  /** The lists in it that are ours too. */
  readonly made?: readonly string[];
}

/** Backups and receipts in the hub's home: the files of other programs hold secrets, and a project is no place for them. */
export class Receipts {
  readonly #folder: string;

  constructor(env: Env) {
    this.#folder = join(placesOf(env).home, 'installed');
  }

  find(file: string, what: string): Receipt | undefined {
    return this.#all().find((one) => one.file === file && one.what === what);
  }

  /** Whether any file holds it. */
  has(what: string): boolean {
    return this.#all().some((one) => one.what === what);
  }

  add(receipt: Receipt): void {
    this.#write([...this.#without(receipt.file, receipt.what), receipt]);
  }

  /** Folders that were made and cannot go yet are left to whoever else is in them. */
  remove(file: string, what: string, folders: readonly string[]): void {
    const left = this.#without(file, what);
    const heir = left.find((one) => folders.some((folder) => one.file.startsWith(`${folder}/`)));
    if (left.length === this.#all().length) return;
    this.#write(left.map((one) => (one === heir ? { ...one, folders: [...one.folders, ...folders] } : one)));
  }

  /** Makes sure that something can be kept, before anything is changed. */
  prepare(): void {
    privateDirectory(join(this.#folder, '..'));
    privateDirectory(this.#folder);
  }

  /** Keeps a text, and answers where. The same text is kept once. */
  backup(file: string, text: string): string {
    const path = this.#backupOf(file, digest(text));
    if (!existsSync(path)) writePrivate(path, text);
    return path;
  }

  /** The text of a backup, if it is there and whole. */
  restored({ file, before }: Receipt): string | undefined {
    if (!before) return undefined;
    const path = this.#backupOf(file, before);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return digest(text) === before ? text : undefined;
  }

  #backupOf(file: string, sum: string): string {
    return join(this.#folder, `${basename(file).replace(/^\.+/, '')}.${sum.slice(0, 16)}.backup`);
  }

  #without(file: string, what: string): readonly Receipt[] {
    return this.#all().filter((one) => one.file !== file || one.what !== what);
  }

  #all(): readonly Receipt[] {
    try {
      return JSON.parse(readFileSync(join(this.#folder, 'receipts.json'), 'utf8')) as readonly Receipt[];
    } catch {
      return []; // Without receipts an entry is still removed, though not always to the byte.
    }
  }

  #write(receipts: readonly Receipt[]): void {
    writePrivate(join(this.#folder, 'receipts.json'), `${JSON.stringify(receipts, null, 2)}\n`);
  }
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
