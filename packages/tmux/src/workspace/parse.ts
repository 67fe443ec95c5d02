import { type Document, isCollection, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Engine } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { shown } from '../operation/given.ts';
import type { WorkspaceWarning } from './workspace.ts';

export type Path = readonly (string | number)[];

interface Position {
  readonly line: number;
  readonly column: number;
}

/** One declared session as the text holds it, unchecked. */
export interface RawSession {
  /** The file, or what the text is called in messages. */
  readonly name: string;
  readonly value: unknown;
  /** Keys from the root of the document to this session. */
  readonly path: Path;
  /** Where the text says something, given the keys that lead there from this session. */
  locate(path: Path): Position | undefined;
}

export interface ParsedWorkspace {
  readonly sessions: readonly RawSession[];
  readonly warnings: readonly WorkspaceWarning[];
}

/**
 * Reads YAML or JSON, which is YAML too. Several sessions may stand in one text: as documents, as a list, or under
 * `sessions`.
 *
 * @example parseWorkspace('session_name: work\nwindows: [{ panes: [top] }]').sessions.length // 1
 */
export function parseWorkspace(text: string, name = 'workspace'): ParsedWorkspace {
  if (typeof text !== 'string') {
    const message = `${name} is no text but ${shown(text)}: give the text of a file, or a value to parseWorkspaceValue.`;
    throw new TmuxError('invalid_workspace', message, { name });
  }
  const lines = new LineCounter();
  const options = { lineCounter: lines, merge: true, prettyErrors: false, logLevel: 'error' } as const;
  const documents = [...parseAllDocuments(text, options)];
  const parsed = documents.map((document) => {
    const [error] = document.errors;
    if (error) throw syntaxError(name, error.message, lines.linePos(error.pos[0]), error);
    const found = collect(readDocument(document, name), name, (path) => positionOf(document, lines, path));
    const strange = document.warnings.map(({ message, pos }) => odd(name, message, lines.linePos(pos[0])));
    return { ...found, warnings: [...strange, ...found.warnings] };
  });
  const sessions = parsed.flatMap((found) => found.sessions);
  if (sessions.length === 0) {
    throw new TmuxError('invalid_workspace', `${name} declares no session: it is empty.`, { name });
  }
  return { sessions, warnings: parsed.flatMap((found) => found.warnings) };
}

/**
 * Reads a workspace that is already a value instead of a text.
 *
 * @example parseWorkspaceValue({ session_name: 'work', windows: [{ panes: ['top'] }] }).sessions.length // 1
 */
export function parseWorkspaceValue(value: unknown, name = 'workspace'): ParsedWorkspace {
  if (typeof (value as Partial<Engine> | null | undefined)?.runChain === 'function')
    throw new TmuxError(
      'invalid_workspace',
      `${name} is an engine: give the engine first, then the workspace.`,
    );
  return collect(value, name, () => undefined);
}

/** `windows[0].panes[1]`, as a person would write it. */
export function showPath(path: Path): string {
  return path.reduce<string>((shown, key) => {
    if (typeof key === 'number') return `${shown}[${key}]`;
    return shown === '' ? key : `${shown}.${key}`;
  }, '');
}

function readDocument(document: Document.Parsed, name: string): unknown {
  try {
    keepNumbersAsWritten(document);
    return document.toJS();
  } catch (cause) {
    if (isOverflow(cause)) throw tooDeep(name, cause);
    // Aliases that multiply without end, or that name no anchor.
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new TmuxError('invalid_workspace', `${name} cannot be read: ${said}.`, { name }, cause);
  }
}

type Locate = (path: Path) => Position | undefined;

/** No list of sessions has as many around it; one that stands inside itself has more. */
const mostAround = 20;

function collect(value: unknown, name: string, locate: Locate, path: Path = []): ParsedWorkspace {
  if (path.length > mostAround) throw tooDeep(name);
  if (value === null || value === undefined) return { sessions: [], warnings: [] };
  if (Array.isArray(value)) {
    const parts = value.map((inner, i) => collect(inner, name, locate, [...path, i]));
    return {
      sessions: parts.flatMap((part) => part.sessions),
      warnings: parts.flatMap((part) => part.warnings),
    };
  }
  if (typeof value === 'object' && 'sessions' in value && !('windows' in value)) {
    const strays = Object.keys(value).filter((key) => key !== 'sessions');
    const inner = collect(value.sessions, name, locate, [...path, 'sessions']);
    return {
      sessions: inner.sessions,
      warnings: [...strays.map((key) => stray([...path, key], locate)), ...inner.warnings],
    };
  }
  return { sessions: [{ name, value, path, locate: (inner) => locate([...path, ...inner]) }], warnings: [] };
}

function stray(path: Path, locate: Locate): WorkspaceWarning {
  const message = `${showPath(path)} is ignored: beside "sessions" nothing else has a meaning.`;
  return { code: 'unknown_key', path: showPath(path), message, ...locate(path) };
}

/** What YAML can say and nothing here can take, like a tag of another program. */
function odd(name: string, said: string, { line, col }: { line: number; col: number }): WorkspaceWarning {
  const message = `${name}: ${said}; it is read without.`;
  return { code: 'changed_value', path: '', message, line, column: col };
}

/** A version 1.10 or a mode 0700 must not become 1.1 and 700 where a text is wanted; numbers are read back from it. */
function keepNumbersAsWritten(document: Document.Parsed): void {
  visit(document, {
    Scalar: (_, node) => {
      const { value, source } = node;
      if (typeof value === 'number' && source !== undefined && String(value) !== source) node.value = source;
    },
  });
}

function positionOf(document: Document.Parsed, lines: LineCounter, path: Path): Position | undefined {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if ((isScalar(node) || isCollection(node)) && node.range) {
      const { line, col } = lines.linePos(node.range[0]);
      return { line, column: col };
    }
  }
  return undefined;
}

/** Readers of nested texts give up by running out of stack. */
const isOverflow = (cause: unknown): boolean => cause instanceof RangeError;

function tooDeep(name: string, cause?: unknown): TmuxError {
  return new TmuxError('invalid_workspace', `${name} is nested too deeply.`, { name }, cause);
}

function syntaxError(
  name: string,
  said: string,
  at: { line: number; col: number },
  cause: unknown,
): TmuxError {
  if (/call stack/.test(said)) return tooDeep(name, cause);
  const details = { name, line: at.line, column: at.col };
  return new TmuxError('invalid_workspace', `${name}:${at.line}:${at.col}: ${said}.`, details, cause);
}
