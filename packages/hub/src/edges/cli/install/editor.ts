/** What is wrong with a file that cannot be read, and where; lines and columns count from 1. */
export class BrokenText extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

export type Data = Readonly<Record<string, unknown>>;

/** Changes one entry of one table in the text of a file and leaves every other byte as it is. In TOML a table may lie in others: `a.b`. */
export interface Editor {
  /** The whole text as data; throws `BrokenText`. */
  read(text: string): Data;
  /** The text with this entry, in the place of the one that has its name. */
  put(text: string, table: string, name: string, entry: Data): string;
  /** The text without the entry and, if asked, without a table that this leaves empty. */
  cut(text: string, table: string, name: string, withTable: boolean): string;
}

/** How the lines of a text end. */
export function lineEnd(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Where an offset is, for people. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
