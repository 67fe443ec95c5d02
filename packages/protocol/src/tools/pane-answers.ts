import type { PaneInfo, PaneLine, PaneReadResult, PaneScreen } from '../pane.ts';
import { fieldLines, taggedText } from './tagged-text.ts';

/** Notes that tools keep with a pane they have started, to tell of it later. */
export const paneNotes: { readonly command: string; readonly workdir: string; readonly description: string } =
  {
    command: 'pty.command',
    workdir: 'pty.workdir',
    description: 'pty.description',
  };

const note = ({ meta }: PaneInfo, key: string): string | undefined => {
  const value = meta[key];
  return value === undefined || value === null ? undefined : String(value);
};

type Ending = Pick<PaneInfo, 'exitCode' | 'exitSignal'>;

function endingOf({ exitCode, exitSignal }: Ending): string {
  if (exitSignal) return `killed (${exitSignal})`;
  return `exited (${exitCode === null || exitCode === undefined ? 'nobody saw how' : `code ${exitCode}`})`;
}

export function statusText(pane: PaneInfo): string {
  return pane.status === 'running' ? 'running' : endingOf(pane);
}

function describe(pane: PaneInfo, lineCount?: number): readonly string[] {
  return fieldLines({
    ID: pane.id,
    Title: pane.title,
    Description: note(pane, paneNotes.description),
    Command: note(pane, paneNotes.command),
    Workdir: note(pane, paneNotes.workdir),
    PID: pane.pid,
    Status: statusText(pane),
    Lines: lineCount,
    Created: lineCount === undefined ? undefined : pane.createdAt,
  });
}

export function spawnedAnswer(pane: PaneInfo, hint?: string): string {
  const block = taggedText({ tag: 'pty_spawned', lines: describe(pane) });
  return hint === undefined ? block : `${block}\n${hint}`;
}

const longestPreview = 50;

export function writtenAnswer(id: string, bytes: number, typed: string): string {
  const preview = typed.length > longestPreview ? `${typed.slice(0, longestPreview)}…` : typed;
  return `Sent ${bytes} ${bytes === 1 ? 'byte' : 'bytes'} to ${id}: ${preview}`;
}

const numbered = ({ n, text }: PaneLine): string => `${String(n).padStart(5, '0')}| ${text}`;

/** What a pane printed; `total` is the number of its newest line. */
export function readAnswer(
  pane: PaneInfo,
  { lines = [], more, truncated }: PaneReadResult,
  total: number,
): string {
  const first = lines[0]?.n;
  const last = lines.at(-1)?.n;
  const trailer =
    last === undefined
      ? `(Nothing there; it has printed ${total} lines)`
      : more
        ? `(Lines ${first}-${last} of ${total} so far; go on with offset=${last + 1})`
        : `(Lines ${first}-${last}; that is all so far)`;
  return taggedText({
    tag: 'pty_output',
    attributes: { id: pane.id, status: statusText(pane) },
    lines: [...(truncated ? ['(Older lines are no longer kept)'] : []), ...lines.map(numbered), '', trailer],
  });
}

/** What `pane:search` answers. */
export interface Matches {
  readonly matches: readonly PaneLine[];
  readonly more: boolean;
  readonly complete: boolean;
}

export function matchesAnswer(pane: PaneInfo, pattern: string, { matches, more, complete }: Matches): string {
  const count = `${matches.length} ${matches.length === 1 ? 'match' : 'matches'}`;
  return taggedText({
    tag: 'pty_output',
    attributes: { id: pane.id, status: statusText(pane), pattern },
    lines: [
      ...matches.map(numbered),
      '',
      more ? `(${count}, and there are more; raise limit or narrow the pattern)` : `(${count})`,
      ...(complete ? [] : ['(The search was cut short; narrow the pattern)']),
    ],
  });
}

export function listAnswer(
  panes: readonly { readonly pane: PaneInfo; readonly lineCount: number }[],
): string {
  const blocks = panes.flatMap(({ pane, lineCount }) => [...describe(pane, lineCount), '']);
  return taggedText({ tag: 'pty_list', lines: [...blocks, `Total: ${panes.length}`] });
}

export function killedAnswer(pane: PaneInfo, lineCount: number, cleanup: boolean): string {
  const kept = cleanup ? 'forgotten' : 'kept; pty_read shows it, cleanup=true forgets it';
  return taggedText({
    tag: 'pty_killed',
    lines: [...describe(pane, lineCount), ...fieldLines({ Output: kept })],
  });
}

export function screenAnswer(
  pane: PaneInfo,
  { rows, cols, lines, cursor, title, alternate }: PaneScreen,
): string {
  return taggedText({
    tag: 'pty_screen',
    attributes: {
      id: pane.id,
      status: statusText(pane),
      size: `${cols}x${rows}`,
      cursor: `row ${cursor.y + 1}, column ${cursor.x + 1}${cursor.visible ? '' : ', hidden'}`,
      ...(alternate && { alternate: 'true' }),
      ...(title !== '' && { title }),
    },
    lines: lines.map((line, index) => numbered({ n: index + 1, text: line })),
  });
}

/** What `pane:wait` answers. */
export interface Waited {
  readonly reason: 'exit' | 'text' | 'idle' | 'timeout';
  readonly match?: unknown;
  readonly exitCode?: number | null | undefined;
  readonly exitSignal?: string | null | undefined;
  readonly next: number;
}

export function waitedAnswer(id: string, waited: Waited): string {
  const { reason, match, next } = waited;
  return taggedText({
    tag: 'pty_waited',
    attributes: { id },
    lines: fieldLines({
      Reason: reason,
      Match: match === undefined ? undefined : typeof match === 'string' ? match : JSON.stringify(match),
      Status: reason === 'exit' ? endingOf(waited) : undefined,
      Next: next,
    }),
  });
}
