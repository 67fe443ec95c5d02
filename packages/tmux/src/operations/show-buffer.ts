import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Text, verbatim } from '../operation/outcome.ts';
import { named } from '../operation/param.ts';

export interface ShowBuffer {
  readonly bufferName?: string;
}

/** By save-buffer to standard output, as show-buffer prints control characters as escapes on tmux 3.2 and 3.3. */
export const showBuffer: Builder<ShowBuffer, Text> = defineOperation<ShowBuffer, Text>({
  kind: 'show_buffer',
  command: 'save-buffer',
  scope: 'server',
  effect: 'read',
  summary: 'Reads a buffer, exactly.',
  params: { bufferName: named('-b', 'which buffer; the newest without a name unless told') },
  fixed: ['-'],
  result: verbatim,
  ownProcess: true,
  example: { bufferName: 'note' },
});
