import { basename, extname } from 'node:path';
import * as z from 'zod';
import { TmuxError } from '../../errors.ts';
import { readGiven, shown } from '../../operation/given.ts';
import { type Path, parseWorkspace, parseWorkspaceValue, type RawSession } from '../parse.ts';
import { parseRaw, warnAbout } from '../read.ts';
import type { WorkspaceWarning } from '../workspace.ts';

/** A workspace in our format, as a value to store or load, and what of the original it could not hold. */
export interface ImportedWorkspace {
  readonly workspace: Readonly<Record<string, unknown>>;
  readonly warnings: readonly WorkspaceWarning[];
}

export interface ImportOptions {
  /** The file the text comes from: for messages, and to name a session that has no name. */
  readonly name?: string;
}

const sourceSchema = z.union([z.string(), z.looseObject({})], {
  error: ({ input }) => `give the text of the file, or the value it holds, not ${shown(input)}`,
});

/** A file of another program, with the warnings that collect while it is read. */
export class Foreign<T> {
  readonly value: T;
  readonly warnings: WorkspaceWarning[] = [];
  readonly #raw: RawSession;

  constructor(source: string | object, schema: z.ZodType<T>, name: string) {
    readGiven(sourceSchema, source, name, 'invalid_workspace');
    const { sessions } =
      typeof source === 'string' ? parseWorkspace(source, name) : parseWorkspaceValue(source, name);
    const [raw] = sessions;
    if (sessions.some(({ value }) => isOurs(value))) {
      const message = `${name} is in the format of tmuxp already: there is nothing to import.`;
      throw new TmuxError('invalid_workspace', message, { name });
    }
    if (raw === undefined || sessions.length > 1) {
      throw new TmuxError(
        'invalid_workspace',
        `${name} must hold one project; it holds ${sessions.length}.`,
        { name },
      );
    }
    if (typeof raw.value !== 'object') {
      const message = `${name}: ${shown(raw.value)} is no project: give the text of the file, not its path.`;
      throw new TmuxError('invalid_workspace', message, { name });
    }
    this.#raw = raw;
    this.value = parseRaw(schema, raw);
    if (typeof source === 'string' && source.includes('<%')) {
      this.warn(
        [],
        'unsupported_key',
        'holds Ruby between <% and %>, which stays as it is written; replace it by hand.',
      );
    }
  }

  warn(path: Path, code: WorkspaceWarning['code'], message: string): void {
    this.warnings.push(warnAbout(this.#raw, path, code, message));
  }

  /** Reports the keys of a mapping that were not carried over, with the reason where there is one. */
  leftBehind(
    value: object,
    path: Path,
    carried: readonly string[],
    reasons: Readonly<Record<string, string>> = {},
  ): void {
    for (const [key, inner] of Object.entries(value)) {
      if (carried.includes(key) || inner === null) continue;
      const reason = Object.hasOwn(reasons, key) ? reasons[key] : undefined;
      if (reason === undefined)
        this.warn([...path, key], 'unknown_key', 'is not a known key and was left out.');
      else this.warn([...path, key], 'unsupported_key', `was left out: ${reason}.`);
    }
  }

  /** The name of the session, or of the file when it has none. */
  sessionName(given: string | number | null | undefined, path: Path): string {
    if (given != null && given !== '') return String(given);
    const file = basename(this.#raw.name, extname(this.#raw.name));
    this.warn(
      path,
      'changed_value',
      `names no session; it is called ${JSON.stringify(file)} after the file.`,
    );
    return file;
  }
}

/** No other program calls it that; without this check its keys would be called unknown, one by one. */
const isOurs = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'session_name');

/** One command, several or none, as a list. */
export function listOf<T>(given: T | readonly (T | null)[] | null | undefined): readonly T[] {
  const list = Array.isArray(given) ? (given as readonly (T | null)[]) : [given as T | null | undefined];
  return list.filter((one): one is T => one != null);
}

/** The shortest way to write a list of commands: nothing, the command itself, or the list. */
export function shortest(commands: readonly string[]): null | string | readonly string[] {
  return commands.length > 1 ? commands : (commands[0] ?? null);
}
