import type { PaneLine } from '@polyphony/protocol';
import type { PaneRecord } from './pane-record.ts';

const longest = 250;

/** What whoever asked for it is told of a pane's end. Nothing in it that the program chose can pass for our own words. */
export function exitNotice(
  { id, title }: Pick<PaneRecord, 'id' | 'title'>,
  { exitCode, exitSignal }: Pick<PaneRecord, 'exitCode' | 'exitSignal'>,
  lastLines: readonly PaneLine[],
): string {
  const last = lastLines.findLast(({ text }) => text.trim() !== '')?.text ?? '';
  return [
    '<pty_exited>',
    `ID: ${id}`,
    `Title: ${inert(title)}`,
    `Exit Code: ${exitCode ?? `none, ${exitSignal ? `ended by ${exitSignal}` : 'how it ended is not known'}`}`,
    `Output Lines: ${lastLines.at(-1)?.n ?? 0}`,
    `Last Line: ${inert(last)}`,
    '</pty_exited>',
    '',
    exitCode === 0
      ? 'pty_read shows what it printed.'
      : 'It failed: pty_read with a pattern finds the errors in what it printed.',
  ].join('\n');
}

/** One line without a tag in it. */
function inert(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const cut = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return cut.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
