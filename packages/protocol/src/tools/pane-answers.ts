import type { PaneInfo } from '../pane.ts';
import type { PaneSearchResult } from '../pane-search.ts';
import type { PaneLine, PaneReadResult, PaneScreen } from '../pane-terminal.ts';
import type { PaneWaitResult } from '../pane-wait.ts';
import { fieldLines, foreignLine, taggedText } from './tagged-text.ts';

type Ending = Pick<PaneInfo, 'exitCode' | 'exitSignal'>;

function endingOf({ exitCode, exitSignal }: Ending): string {
  if (exitSignal) return `killed (${exitSignal})`;
  return `exited (${exitCode === null || exitCode === undefined ? 'nobody saw how' : `code ${exitCode}`})`;
}

const statusOf = (pane: PaneInfo): string => (pane.status === 'running' ? 'running' : endingOf(pane));

/** The words of a command, quoted where a shell would need it, so that nobody takes two for one. */
export function commandLine(argv: readonly string[]): string {
  const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))).join(' ');
}

function describe(pane: PaneInfo): readonly string[] {
  const { description } = pane.meta;
  return fieldLines({
    ID: pane.id,
    Title: pane.title,
    Description: typeof description === 'string' ? description : undefined,
    Command: commandLine(pane.argv),
    Workdir: pane.cwd,
    PID: pane.pid,
    Status: statusOf(pane),
    Lines: pane.lines,
    Created: pane.createdAt,
  });
}

export function spawnedAnswer(pane: PaneInfo, hint?: string): string {
  const block = taggedText({ tag: 'pty_spawned', lines: describe(pane) });
  return hint === undefined ? block : `${block}\n${hint}`;
}

const longestPreview = 50;

/** `typed` is what was asked for, with its escapes. */
export function writtenAnswer(id: string, bytes: number, typed: string): string {
  const preview = typed.length > longestPreview ? `${typed.slice(0, longestPreview)}…` : typed;
  return `Sent ${bytes} ${bytes === 1 ? 'byte' : 'bytes'} to ${id}: ${foreignLine(preview)}`;
}

const numbered = ({ n, text }: PaneLine): string => `${String(n).padStart(5, '0')}| ${text}`;

export function readAnswer(
  pane: PaneInfo,
  { lines = [], more, truncated, from, retainedFrom }: PaneReadResult,
  { isTail = false }: { readonly isTail?: boolean } = {},
): string {
  const older =
    from <= retainedFrom
      ? '(Older lines are no longer kept)'
      : isTail
        ? '(Earlier lines are left out here; offset reads those that are kept)'
        : '(Something is missing before these lines: nobody could keep it)';
  const range = `Lines ${lines[0]?.n}-${lines.at(-1)?.n}`;
  const trailer =
    lines.length === 0
      ? `(Nothing there; it has printed ${pane.lines ?? 0} lines)`
      : more
        ? `(${range} of ${pane.lines ?? 'more'}; go on with offset=${(lines.at(-1)?.n ?? 0) + 1})`
        : `(${range}; that is all so far)`;
  return taggedText({
    tag: 'pty_output',
    attributes: { id: pane.id, status: statusOf(pane) },
    lines: [...(truncated ? [older] : []), ...lines.map(numbered), '', trailer],
  });
}

export function matchesAnswer(
  pane: PaneInfo,
  pattern: string,
  { matches, more, complete }: PaneSearchResult,
): string {
  const count = `${matches.length} ${matches.length === 1 ? 'line matches' : 'lines match'}`;
  const older = more ? `; offset=${matches.at(-1)?.n} finds older ones` : '';
  return taggedText({
    tag: 'pty_output',
    attributes: { id: pane.id, status: statusOf(pane), pattern },
    lines: [
      ...matches.toReversed().map(numbered),
      '',
      `(${count}${older})`,
      ...(complete ? [] : ['(The search took too long and was given up: older lines may match too)']),
    ],
  });
}

export function listAnswer(panes: readonly PaneInfo[]): string {
  const blocks = panes.flatMap((pane) => [...describe(pane), '']);
  return taggedText({ tag: 'pty_list', lines: [...blocks, `Total: ${panes.length}`] });
}

export function killedAnswer(pane: PaneInfo, cleanup: boolean): string {
  const output = cleanup ? 'forgotten' : 'kept; pty_read shows it, cleanup=true forgets it';
  return taggedText({ tag: 'pty_killed', lines: [...describe(pane), ...fieldLines({ Output: output })] });
}

export function screenAnswer(pane: PaneInfo, screen: PaneScreen): string {
  const { rows, cols, lines, cursor, title, alternate } = screen;
  return taggedText({
    tag: 'pty_screen',
    attributes: {
      id: pane.id,
      status: statusOf(pane),
      size: `${cols}x${rows}`,
      cursor: `row ${cursor.y + 1}, column ${cursor.x + 1}${cursor.visible ? '' : ', hidden'}`,
      ...(alternate && { alternate: 'true' }),
      ...(title !== '' && { title }),
    },
    lines: lines.map((text, index) => numbered({ n: index + 1, text })),
  });
}

export function waitedAnswer(id: string, waited: PaneWaitResult): string {
  const { reason, match, next } = waited;
  return taggedText({
    tag: 'pty_waited',
    attributes: { id },
    lines: [
      ...fieldLines({ Reason: reason, Status: reason === 'exit' ? endingOf(waited) : undefined, Next: next }),
      ...(match ? [numbered(match)] : []),
    ],
  });
}
