import { StoreError } from './errors.ts';
import type { SearchIndex } from './migrations.ts';
import type { Condition, Newest } from './store.ts';

/**
 * How SQLite keeps an index of words: beside the table, and behind it, for a row at a time it would cost more than the
 * row. What is in it is marked by the greatest key. Also makes one of those that were up to date by themselves.
 */
export function createSearch({ name, table, key, columns }: SearchIndex): readonly string[] {
  const list = columns.join(', ');
  const old = columns.map((column) => `old.${column}`).join(', ');
  const forget = `INSERT INTO ${name} (${name}, rowid, ${list}) VALUES ('delete', old.${key}, ${old})`;
  return [
    `CREATE VIRTUAL TABLE IF NOT EXISTS ${name} USING fts5 (${list}, content='${table}', content_rowid='${key}', tokenize='unicode61 remove_diacritics 2')`,
    // What was forgotten must not be left in the index either.
    `INSERT INTO ${name} (${name}, rank) VALUES ('secure-delete', 1)`,
    'CREATE TABLE IF NOT EXISTS search_marks (name TEXT PRIMARY KEY, up_to INTEGER NOT NULL) STRICT, WITHOUT ROWID',
    `INSERT OR IGNORE INTO search_marks SELECT '${name}', coalesce(max(${key}), 0) FROM ${table}`,
    `DROP TRIGGER IF EXISTS ${name}_added`,
    `DROP TRIGGER IF EXISTS ${name}_removed`,
    `CREATE TRIGGER ${name}_removed AFTER DELETE ON ${table}
      WHEN old.${key} <= (SELECT up_to FROM search_marks WHERE name = '${name}') BEGIN ${forget}; END`,
  ];
}

/** What takes the next rows into an index. */
export interface Learning {
  /** Answers the greatest key of so many rows that are not in it yet, or null. */
  readonly next: string;
  /** Both for the rows up to a key: into the index, and the mark. */
  readonly learn: string;
  readonly mark: string;
}

export function learningOf({ name, table, key, columns }: SearchIndex, rows: number): Learning {
  const list = columns.join(', ');
  const behind = `(SELECT up_to FROM search_marks WHERE name = '${name}')`;
  return {
    next: `SELECT max(${key}) AS key FROM (SELECT ${key} FROM ${table} WHERE ${key} > ${behind} ORDER BY ${key} LIMIT ${rows})`,
    learn: `INSERT INTO ${name} (rowid, ${list}) SELECT ${key}, ${list} FROM ${table} WHERE ${key} > ${behind} AND ${key} <= ?`,
    mark: `UPDATE search_marks SET up_to = ? WHERE name = '${name}'`,
  };
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
