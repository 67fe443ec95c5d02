import type { TimelineEntry, TimelineKind } from '@polyphony/protocol';
import type { Output } from './output.ts';
import { revealedLine } from './revealed.ts';

const colours: Partial<Readonly<Record<TimelineKind, 'green' | 'red' | 'yellow' | 'cyan' | 'bold'>>> = {
  prompt: 'bold',
  answer: 'green',
  failure: 'red',
  rejected: 'red',
  interrupt: 'red',
  asked: 'yellow',
  advice: 'yellow',
  handoff: 'cyan',
};

const mostLines = 12;

/** Prints an entry; of what others wrote nothing reaches the terminal but what can be seen. */
export function showEntry(
  entry: TimelineEntry,
  out: Output,
  { whole = false }: { readonly whole?: boolean } = {},
): void {
  const { at, sender, kind, text, result, starred, tags = [], decision, entry_id, reconstructed } = entry;
  const marks = [starred && '★', ...tags.map((tag) => `#${tag}`), reconstructed && 'reconstructed'].filter(
    Boolean,
  );
  const colour = colours[kind];
  const shownKind = colour ? out.paint(colour, kind) : kind;
  out.line(
    `${out.paint('dim', at.slice(0, 19).replace('T', ' '))}  ${sender}  ${shownKind}  ${out.paint('dim', [entry_id, ...marks].join(' '))}`,
  );
  showText(text, out, '  ', whole);
  if (result) showText(result.text, out, result.error === undefined ? '  → ' : '  ✗ ', whole);
  if (decision !== undefined) out.line(`  ${out.paint('cyan', `decided: ${revealedLine(decision)}`)}`);
}

function showText(text: string, out: Output, mark: string, whole: boolean): void {
  if (text === '') return;
  const lines = text.split(/\r?\n/);
  const shown = whole ? lines : lines.slice(0, mostLines);
  for (const [index, line] of shown.entries())
    out.line(`${index === 0 ? mark : ' '.repeat(mark.length)}${revealedLine(line)}`);
  if (shown.length < lines.length)
    out.line(out.paint('dim', `${' '.repeat(mark.length)}… ${lines.length - shown.length} more lines`));
}
