import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, named, target, text } from '../operation/param.ts';
import { quoteLine } from '../operation/quote.ts';
import { renderTarget, type Target } from '../operation/target.ts';
import { atLeast } from '../operation/version.ts';

export interface PasteBuffer {
  readonly target: Target;
  readonly bufferName?: string;
  readonly delete?: boolean;
  readonly bracket?: boolean;
  readonly keepNewlines?: boolean;
  readonly separator?: string;
  readonly keepEscapes?: boolean;
}

const exited = 'target pane has exited';

/**
 * Before 3.4 tmux crashes when the pane is dead, with every session in it: there the paste is tied to a look at the
 * pane. Before 3.7 a buffer that holds ESC[201~ ends the bracketed paste, and what follows it is typed: Pane.paste()
 * takes such marks out.
 */
export const pasteBuffer: Builder<PasteBuffer, Ack> = defineOperation<PasteBuffer, Ack>({
  kind: 'paste_buffer',
  scope: 'pane',
  effect: 'write',
  summary: 'Types the content of a buffer into a pane.',
  params: {
    target: target('the pane'),
    bufferName: named('-b', 'which buffer; the newest without a name unless told'),
    delete: flag('-d', 'delete the buffer afterwards'),
    bracket: flag('-p', 'mark it as pasted for a program that asked for such marks'),
    keepNewlines: flag('-r', 'newlines as they are, instead of carriage returns'),
    separator: text('-s', 'what stands for a newline'),
    keepEscapes: flag('-S', 'escape characters as they are; always so before 3.7', { since: '3.7' }),
  },
  protect: (argv, { target: pane }, version) =>
    atLeast(version, '3.4')
      ? argv
      : [
          'if-shell',
          '-F',
          '-t',
          renderTarget(pane),
          '#{pane_dead}',
          quoteLine(['display-message', '-p', exited]),
          quoteLine(argv),
        ],
  result: { ...ack, refused: ({ stdout }) => (stdout.trim() === exited ? exited : undefined) },
  example: { target: { session: 'demo', window: 0, pane: 1 }, bufferName: 'note', bracket: true },
});
