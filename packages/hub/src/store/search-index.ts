import { StoreError } from './errors.ts';
import type { SearchIndex } from './migrations.ts';
import type { Condition, Newest } from './store.ts';

/** How SQLite keeps an index of words: beside the table, and up to date by itself. */
export function createSearch({ name, table, key, columns }: SearchIndex): readonly string[] {
  const list = columns.join(', ');
  const values = (row: 'new' | 'old'): string => columns.map((column) => `${row}.${column}`).join(', ');
  const forget = `INSERT INTO ${name} (${name}, rowid, ${list}) VALUES ('delete', old.${key}, ${values('old')})`;
  const learn = `INSERT INTO ${name} (rowid, ${list}) VALUES (new.${key}, ${values('new')})`;
  return [
    `CREATE VIRTUAL TABLE ${name} USING fts5 (${list}, content='${table}', content_rowid='${key}', tokenize='unicode61 remove_diacritics 2')`,
    // What was forgotten must not be left in the index either.
    `INSERT INTO ${name} (${name}, rank) VALUES ('secure-delete', 1)`,
    `CREATE TRIGGER ${name}_added AFTER INSERT ON ${table} BEGIN ${learn}; END`,
    `CREATE TRIGGER ${name}_removed AFTER DELETE ON ${table} BEGIN ${forget}; END`,
  ];
}

/** Holds for rows with all the words, in any order; a word that ends in `*` may go on. */
export function matchingIn({ name, key }: SearchIndex, text: string, newest?: Newest): Condition {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0)
    throw new StoreError({ code: 'refused', message: `"${text.slice(0, 80)}" holds no word to search for.` });
  const terms = words.map((word) => {
    const begins = word.endsWith('*');
    return `"${(begins ? word.slice(0, -1) : word).replaceAll('"', '""')}"${begins ? '*' : ''}`;
  });
  const found = `SELECT rowid FROM ${name} WHERE ${name} MATCH ?`;
  if (!newest) return { sql: `${key} IN (${found})`, values: [terms.join(' ')] };
  const { count, before = Number.MAX_SAFE_INTEGER } = newest;
  return {
    sql: `${key} IN (${found} AND rowid < ? ORDER BY rowid DESC LIMIT ?)`,
    values: [terms.join(' '), before, count],
  };
}
