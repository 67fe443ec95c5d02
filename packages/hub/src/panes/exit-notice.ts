import { fieldLines, type PaneLine, taggedText } from '@polyphony/protocol';
import type { PaneRecord } from './pane-record.ts';

const longest = 250;

/** What whoever asked for it is told of a pane's end. Nothing in it that the program chose can pass for our own words. */
export function exitNotice(
  { id, title }: Pick<PaneRecord, 'id' | 'title'>,
  { exitCode, exitSignal }: Pick<PaneRecord, 'exitCode' | 'exitSignal'>,
  lastLines: readonly PaneLine[],
): string {
  const unknown = exitSignal ? `none, ended by ${exitSignal}` : 'none, how it ended is not known';
  const last = lastLines.findLast(({ text }) => text.trim() !== '')?.text.trim() ?? '';
  const lines = fieldLines({
    ID: id,
    Title: title,
    'Exit Code': exitCode ?? unknown,
    'Output Lines': lastLines.at(-1)?.n ?? 0,
    'Last Line': last.length > longest ? `${last.slice(0, longest)}…` : last,
  });
  const hint =
    exitCode === 0
      ? 'pty_read shows what it printed.'
      : 'It failed: pty_read with a pattern finds the errors in what it printed.';
  return `${taggedText({ tag: 'pty_exited', lines })}\n\n${hint}`;
}
