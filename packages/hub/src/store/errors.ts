/** Every way the store can fail, with what to do next. */
const hints = {
  conflict: 'Read again what is stored now, then decide anew.',
  refused: 'Correct the statement or its values.',
  unstorable: 'Leave the NUL out of the text.',
  full: 'Make room on the disk; writing goes on by itself.',
  busy: 'Another program has the file locked: end it, then try again.',
  broken: 'Start the process again, and see what was kept; look at the disk if it happens twice.',
  closed: 'Open the store again.',
  foreign: 'Name another file, or move this one away.',
  newer: 'Use the newer version, or restore the copy made before its migration.',
  corrupt: 'Restore a backup with `poly restore`, or move the file away to begin with an empty record.',
  sqlite_too_old: 'Install the dependencies again, so that better-sqlite3 brings its own SQLite.',
} as const;

export type StoreErrorCode = keyof typeof hints;

/** What went wrong, in a form that crosses threads. */
export interface Failure {
  readonly code: StoreErrorCode;
  readonly message: string;
  /** Which statement of the batch it was, from 0. */
  readonly statement?: number | undefined;
}

/** The one error class of the store: branch on `code`, show `message`, act on `hint`. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly hint: string;
  readonly statement: number | undefined;

  constructor({ code, message, statement }: Failure, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hints[code];
    this.statement = statement;
  }
}

/** That what is stored is not as the batch expected. */
export const isConflict = (error: unknown): error is StoreError =>
  error instanceof StoreError && error.code === 'conflict';

export function newerSchema(file: string, schema: number, newest: number): StoreError {
  return new StoreError({
    code: 'newer',
    message: `${file} has schema ${schema}, and this version knows schemas up to ${newest}.`,
  });
}

/** What SQLite's codes mean to us; the first that matches. */
const codes: readonly (readonly [said: RegExp, code: StoreErrorCode])[] = [
  [/^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)$/, 'full'],
  [/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ|IOERR_CORRUPTFS|IOERR_DATA)/, 'corrupt'],
  [/^SQLITE_(BUSY|LOCKED)/, 'busy'],
  [/^SQLITE_(IOERR|CANTOPEN|NOMEM|PROTOCOL|READONLY_DBMOVED)|^E[A-Z0-9]+$/, 'broken'],
];

/** What an error of SQLite or of the file system means; `what` says what failed. */
export function failureOf(error: unknown, what = 'The store failed', statement?: number): Failure {
  if (error instanceof StoreError) {
    return { code: error.code, message: error.message, statement: error.statement };
  }
  const message = error instanceof Error ? error.message : String(error);
  const said = error instanceof Error && 'code' in error ? String(error.code) : '';
  const code = codes.find(([pattern]) => pattern.test(said))?.[1] ?? 'refused';
  return { code, message: `${what}: ${message}${said && ` (${said})`}.`, statement };
}
